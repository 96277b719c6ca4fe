"""A model in threads, in processes, in loops, and under signals."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
import softalign
from conftest import MODEL

SENTENCES = ["She sleeps.", "They bought a hat.", "Where is the station?", "He sings."]


def translate(model, sentence):
    return model.translate(sentence).text


def test_threads_share_a_model(model):
    expected = [translate(model, sentence) for sentence in SENTENCES]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda sentence: translate(model, sentence), SENTENCES * 20))
    assert found == expected * 20


def test_the_interpreter_runs_while_a_call_works(model):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    clock = threading.Thread(target=tick)
    clock.start()
    start = time.monotonic()
    model.translate(SENTENCES * 200)
    end = time.monotonic()
    done.set()
    clock.join()
    assert sum(start < one < end for one in ticks) > 5


METHODS = [method for method in ("fork", "spawn") if method in multiprocessing.get_all_start_methods()]


@pytest.mark.parametrize("method", METHODS)
def test_processes_take_a_model_that_was_used(model, method):
    expected = [translate(model, sentence) for sentence in SENTENCES]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as processes:
        found = processes.map(translate, [model] * 8, SENTENCES * 2, timeout=60)
        assert list(found) == expected * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_uses_the_parents_model(model):
    # All cores of the parent are at work when it forks.
    busy = threading.Thread(target=lambda: model.translate(SENTENCES * 300))
    busy.start()
    child = os.fork()
    if child == 0:
        os._exit(0 if translate(model, SENTENCES[0]) == "Elle dort." else 1)
    busy.join()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child hangs")


def test_models_are_pickled_by_their_directories(model):
    copy = pickle.loads(pickle.dumps(model))
    assert copy.path == model.path and translate(copy, "She sleeps.") == "Elle dort."
    assert pickle.loads(pickle.dumps(model)) is copy
    assert len(pickle.dumps(model)) < 500


def test_an_interrupt_ends_a_translation(model):
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.translate(SENTENCES * 100_000)
    assert time.monotonic() - start < 30
    assert translate(model, "She sleeps.") == "Elle dort."


def test_a_panic_becomes_an_exception(capfd):
    from softalign import _native

    with pytest.raises(softalign.Error, match="internal error.*injected"):
        _native._raise_panic()
    assert capfd.readouterr() == ("", "")


def test_threads_are_chosen(model):
    softalign.set_threads(1)
    assert translate(model, "She sleeps.") == "Elle dort."
    softalign.set_threads(2)
    assert translate(model, "She sleeps.") == "Elle dort."
    with pytest.raises(ValueError):
        softalign.set_threads(0)


def resident_megabytes():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
def test_calls_and_models_leave_memory_flat(model):
    def use():
        for _ in range(300):
            model.translate("She sleeps.").attention.sum()
        for _ in range(3):
            softalign.load(MODEL).translate("She sleeps.").links
        gc.collect()

    use()
    before = resident_megabytes()
    for _ in range(3):
        use()
    assert resident_megabytes() - before < 40


def test_a_missing_model_is_told():
    with pytest.raises(FileNotFoundError, match="no model here") as raised:
        softalign.load("/nowhere")
    assert isinstance(raised.value, softalign.Error) and type(raised.value).__module__ == "softalign"
    with pytest.raises(TypeError, match="unexpected keyword argument 'beem'. Did you mean 'beam'"):
        softalign.load(MODEL).translate("a", beem=3)


def test_the_command_runs_and_tells_errors():
    version = subprocess.run([sys.executable, "-m", "softalign", "--version"], capture_output=True, encoding="utf-8")
    assert version.returncode == 0 and version.stdout.startswith("softalign ")
    wrong = subprocess.run([sys.executable, "-m", "softalign", "translat"], capture_output=True, encoding="utf-8")
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: ") and wrong.stdout == ""


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_the_command_ends_on_ctrl_c():
    command = [sys.executable, "-m", "softalign", "translate", "--model", str(MODEL)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"She sleeps.\n")
    process.stdin.flush()
    assert process.stdout.readline() == "Elle dort.\n".encode()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert process.returncode in (-signal.SIGINT, 130)
    assert b"Traceback" not in process.stderr.read()
