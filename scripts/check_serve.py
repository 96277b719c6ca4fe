#!/usr/bin/env python3
"""Use `softalign serve` as its clients do, and measure it.

Needs a release build and Python 3.9 or newer. The checks with LibreTranslate's own client download `libretranslatepy`
into a fresh environment; `--offline` leaves them out.

    python3 scripts/check_serve.py                    # the client, then 1, 8 and 64 clients at once
    python3 scripts/check_serve.py --seconds 20       # longer measurements
    python3 scripts/check_serve.py --fairness         # how long a short sentence waits beside heavy requests
    python3 scripts/check_serve.py --abuse-minutes 60 # all of them at once, with memory, files and threads
"""

import argparse
import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
import zipfile
from pathlib import Path

import serve_loads

ROOT = Path(__file__).resolve().parent.parent
CLIENT = """
import sys
from libretranslatepy import LibreTranslateAPI
client = LibreTranslateAPI(sys.argv[1])
assert client.languages()[0]["targets"] == ["fr"], client.languages()
assert client.translate("She sleeps.", "en", "fr") == "Elle dort."
assert client.translate("She sleeps.\\nHe sings.", "auto", "fr") == "Elle dort.\\nIl chante."
assert client.detect("They bought a black hat.")[0]["language"] == "en"
print("libretranslatepy: languages, translate and detect work")
"""


class Served:
    """Server process on a free port."""

    def __init__(self, program, *options):
        arguments = [program, "serve", "--model", f"en-fr={ROOT / 'checkpoints'}", "--port", "0", *options]
        self.process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"http://(.*):(\d+)/", line)
        if not found:
            sys.exit(f"no address: {line}")
        self.host, self.port = found.group(1), int(found.group(2))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=15)
        assert code == 0, f"exit code {code} after SIGTERM"

    def memory(self):
        """Resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


class Connection:
    """Connection that stays open between requests."""

    def __init__(self, server):
        self.server = server

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(self.server.host, self.server.port)

    async def post(self, path, body):
        """Returns status and body of the answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self.server.host}:{self.server.port}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        self.writer.write(head.encode() + data)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:"))
        return int(lines[0].split()[1]), await self.reader.readexactly(length)

    def close(self):
        self.writer.close()


def check_client(server):
    """Runs LibreTranslate's own client."""
    with tempfile.TemporaryDirectory() as directory:
        venv.create(directory, with_pip=True)
        python = Path(directory) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "libretranslatepy"], check=True)
        subprocess.run([python, "-c", CLIENT, f"http://{server.host}:{server.port}"], check=True)


def check_files(server):
    """Translates a file and downloads it."""
    status, answer = asyncio.run(serve_loads.translated_file(server, serve_loads.document(50)))
    assert status == 200, (status, answer)
    address = json.loads(answer)["translatedFileUrl"]
    with urllib.request.urlopen(address, timeout=30) as response:
        assert response.headers["Content-Disposition"].startswith('attachment; filename="load_fr.docx"'), response.headers
        with zipfile.ZipFile(io.BytesIO(response.read())) as archive:
            assert archive.read("word/document.xml").count(b"<w:t") == 50
    print("translate_file: a .docx comes back")


def sentences(count):
    lines = (ROOT / "data" / "test.tsv").read_text(encoding="utf-8").splitlines()
    texts = [line.split("\t")[0] for line in lines]
    return [texts[index % len(texts)] for index in range(count)]


def translate(program, texts):
    """Translations of the command in one batch, and sentences per second of its fastest of three runs."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "sentences.txt"
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        command = [program, "translate", "--quiet", "--model", ROOT / "checkpoints", "--input", path]
        times = []
        for _ in range(3):
            start = time.perf_counter()
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            times.append(time.perf_counter() - start)
        return output.splitlines(), len(texts) / min(times)


async def load(server, clients, seconds, texts, expected):
    """Has clients translate one sentence after the other. Returns sentences per second and the sorted times in ms."""
    times = []
    end = time.perf_counter() + seconds

    async def client(number):
        connection = Connection(server)
        await connection.open()
        index = number
        while time.perf_counter() < end:
            index = (index + clients) % len(texts)
            start = time.perf_counter()
            status, body = await connection.post("/translate", {"q": texts[index], "source": "en", "target": "fr"})
            times.append(1000 * (time.perf_counter() - start))
            found = json.loads(body)["translatedText"] if status == 200 else body
            assert found == expected[index], f"{texts[index]}: {found} is not {expected[index]}"
        connection.close()

    start = time.perf_counter()
    await asyncio.gather(*map(client, range(clients)))
    return len(times) / (time.perf_counter() - start), sorted(times)


def measure(program, server, seconds):
    texts = sentences(2000)
    expected, batch = translate(program, texts)
    print(f"translate --input, {len(texts)} sentences, with its start: {batch:.0f} sentences/s")
    for clients in [1, 8, 64]:
        asyncio.run(load(server, clients, 1, texts, expected))
        rate, times = asyncio.run(load(server, clients, seconds, texts, expected))
        p50, p95, p99 = (times[min(len(times) - 1, int(len(times) * share))] for share in [0.5, 0.95, 0.99])
        print(
            f"{clients:2} clients: {rate:.0f} sentences/s ({100 * rate / batch:.0f} % of translate), "
            f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms"
        )


def check_loads(arguments):
    texts = sentences(500)
    expected, _ = translate(arguments.program, texts)
    with tempfile.TemporaryDirectory() as directory:
        keys = Path(directory) / "keys"
        keys.write_text(serve_loads.KEY + "\n")
        with Served(arguments.program, "--api-keys", keys) as server:
            print(f"at the start: {server.memory():.0f} MB", flush=True)
            if arguments.fairness:
                serve_loads.fairness(server, arguments.seconds, texts, expected)
            else:
                asyncio.run(serve_loads.abuse(server, arguments.abuse_minutes, texts, expected))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--program", default=target / "release" / "softalign", help="the softalign program")
    parser.add_argument("--offline", action="store_true", help="without LibreTranslate's client")
    parser.add_argument("--seconds", type=float, default=5, help="duration of each measurement")
    parser.add_argument("--fairness", action="store_true", help="measure waiting beside loads, instead of the rest")
    parser.add_argument("--abuse-minutes", type=float, help="duration of all loads at once, instead of the rest")
    arguments = parser.parse_args()
    if arguments.fairness or arguments.abuse_minutes:
        check_loads(arguments)
        return
    with Served(arguments.program) as server:
        if not arguments.offline:
            check_client(server)
        check_files(server)
        measure(arguments.program, server, arguments.seconds)


if __name__ == "__main__":
    main()
