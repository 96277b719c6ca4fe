"""Loads that a server must bear: heavy, slow and broken requests, with the time that a short sentence waits beside them."""

import asyncio
import io
import json
import random
import time
import zipfile
from pathlib import Path

KEY = "an-honest-key"
# Statuses of heavy requests while others take all places: 408 if the body had to wait too long.
BUSY = {408, 503}
SHORT = {"q": "She sleeps.", "source": "en", "target": "fr"}
WORDS = "they bought a black hat yesterday and the old man lives in a small house near the river with his dog".split()


def words(count, seed):
    choose = random.Random(seed)
    return " ".join(choose.choice(WORDS) for _ in range(count)) + "."


def letters(count, seed):
    choose = random.Random(seed)
    return " ".join(choose.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(count))


def pairs(count, length):
    """Pairs of short words, so that many are within the limit of characters."""
    return {"pairs": [{"source": letters(length, seed), "target": letters(length, seed + 1)} for seed in range(count)]}


def html(blocks, length):
    return "".join(f"<p>{words(length, seed)} <b>black</b></p>" for seed in range(blocks))


def package(text):
    """A .docx with this XML."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", text)
    return out.getvalue()


def document(paragraphs):
    """A .docx with so many paragraphs of 8 words."""
    body = "".join(f"<w:p><w:r><w:t>{words(8, seed)}</w:t></w:r></w:p>" for seed in range(paragraphs))
    return package(f'<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>')


def form(file):
    """The body of a form with a .docx."""
    fields = "".join(f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                     for name, value in (("source", "en"), ("target", "fr")))
    head = f'{fields}--b\r\nContent-Disposition: form-data; name="file"; filename="load.docx"\r\n\r\n'
    return head.encode() + file + b"\r\n--b--\r\n"


# Path and body of each heavy request, how many are sent at once, and the statuses that are right.
HEAVY = {
    "80 texts of 450 words": ("/v1/translate", {"text": [words(450, seed) for seed in range(80)]}, 1, {200}),
    "75 HTML blocks of 450 words": ("/v1/translate", {"text": html(75, 450), "markup": "html"}, 1, {200}),
    "75 blocks, LibreTranslate": (
        "/translate", {"q": html(75, 450), "source": "en", "target": "fr", "format": "html"}, 1, {200},
    ),
    "two of beam 1000": ("/v1/translate", {"text": [words(20, seed) for seed in range(10)], "beam": 1000}, 2, {200}),
    "beam 50, 400 words": ("/v1/translate", {"text": words(300, 1), "beam": 50}, 2, {200}),
    "490 letters, 7 of the best": ("/v1/translate", {"text": "a " * 490, "beam": 7, "n_best": 7}, 2, {200, 413}),
    "490 letters, 1000 of the best": ("/v1/translate", {"text": "a " * 490, "beam": 1000, "n_best": 1000}, 8, {413}),
    "1000 samples": ("/v1/translate", {"text": words(10, 1), "sample": True, "n_best": 1000}, 2, {200}),
    "MBR of 300 samples": ("/v1/translate", {"text": words(10, 1), "mbr": 300}, 2, {200, 413}),
    "attention of 400 words": ("/v1/translate", {"text": words(400, 1), "attention": True}, 4, {200}),
    "two alignments of 100 pairs": ("/v1/align", pairs(100, 450), 2, {200}),
    "alignments by HMM": ("/v1/align", {**pairs(40, 450), "links_from": "hmm"}, 2, {200}),
    "scores of 100 pairs": ("/v1/score", pairs(100, 450), 2, {200}),
    "250 paragraphs of 100 words": ("/v1/translate", {"text": [words(100, seed) for seed in range(250)]}, 1, {200}),
    "2000 sentences": ("/v1/translate", {"text": [words(8, seed) for seed in range(2000)]}, 2, {200}),
    "100 alternatives": (
        "/translate",
        {"q": "\n".join(words(12, seed) for seed in range(19)), "source": "en", "target": "fr", "alternatives": 100},
        2,
        {200},
    ),
    "detection of 190,000 characters": ("/detect", {"q": letters(95_000, 1)}, 4, {200}),
    "steps of 150 words, beam 20": ("/v1/steps", {"text": words(150, 1), "beam": 20}, 2, {200, 400}),
    "files of 1,900 paragraphs": ("/translate_file", form(document(1900)), 2, {200}),
    "files of small elements": ("/translate_file", form(package("<w:p>" + "<a/>" * 520_000 + "</w:p>")), 4, {200, 400}),
    "files of nested elements": ("/translate_file", form(package("<w:p>" * 900 + "<w:r/>" * 340_000)), 4, {400}),
    "ZIP bombs": ("/translate_file", form(package(" " * (50 << 20))), 4, {400}),
    "files of 15 MiB": ("/translate_file", form(random.Random(1).randbytes(15 << 20)), 4, {400}),
    "2,000 terms": (
        "/v1/translate",
        {"text": "She sleeps.", "terms": [{"source": f"s{index}", "target": f"t{index}x"} for index in range(2000)]},
        4,
        {200},
    ),
}


class Client:
    """Connection that stays open between requests."""

    def __init__(self, server):
        self.server = server

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(self.server.host, self.server.port)

    def send(self, path, body, length=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self.server.host}:{self.server.port}\r\n"
        kind = "multipart/form-data; boundary=b" if data.startswith(b"--b") else "application/json"
        head += f"Authorization: Bearer {KEY}\r\nContent-Type: {kind}\r\n"
        head += f"Content-Length: {len(data) if length is None else length}\r\n\r\n"
        self.writer.write(head.encode() + data)

    async def post(self, path, body):
        """Returns the status and the body of the answer."""
        self.send(path, body)
        await self.writer.drain()
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if line)
        status = int(lines[0].split()[1])
        if "content-length" in headers:
            return status, await self.reader.readexactly(int(headers["content-length"]))
        parts = []
        while size := int(await self.reader.readline(), 16):
            parts.append(await self.reader.readexactly(size))
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return status, b"".join(parts)

    def close(self):
        self.writer.close()


async def translated_file(server, file):
    """Translates a .docx once. Returns the status and the body of the answer."""
    client = Client(server)
    await client.open()
    answered = await client.post("/translate_file", form(file))
    client.close()
    return answered


async def repeat(server, end, counts, path, body, statuses):
    """Sends a request again and again."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    while time.perf_counter() < end:
        client, status = Client(server), None
        await client.open()
        try:
            async with asyncio.timeout(max(1, end - time.perf_counter())):
                status, answer = await client.post(path, data)
                assert status in statuses | BUSY, (path, status, answer[:300])
                counts[status] = counts.get(status, 0) + 1
        except TimeoutError:
            counts["cut"] = counts.get("cut", 0) + 1
        client.close()
        # A refusal costs the server nothing; a client that repeats it at once would only measure this script.
        await asyncio.sleep(0.05 if status in {413} | BUSY else 0)


async def unread(server, end, counts):
    """Asks for long answers and reads none."""
    while time.perf_counter() < end:
        clients = []
        for _ in range(20):
            client = Client(server)
            await client.open()
            client.writer.transport.pause_reading()
            client.send("/v1/translate", {"text": [words(200, seed) for seed in range(40)], "attention": True})
            clients.append(client)
        await asyncio.sleep(min(20, max(0.1, end - time.perf_counter())))
        for client in clients:
            client.close()
        counts["unread"] = counts.get("unread", 0) + len(clients)


async def held(server, end, counts):
    """Sends nearly the whole of long bodies, and holds them."""
    while time.perf_counter() < end:
        clients = []
        for _ in range(300):
            client = Client(server)
            await client.open()
            client.send("/v1/translate", b'{"text": "' + b"a" * 1_400_000, 1_500_000)
            clients.append(client)
        await asyncio.sleep(min(25, max(0.1, end - time.perf_counter())))
        for client in clients:
            client.close()
        counts["held"] = counts.get("held", 0) + len(clients)


async def abandoned(server, end, counts):
    """Asks for much and goes away."""
    body = {"text": [words(450, seed) for seed in range(80)]}
    while time.perf_counter() < end:
        client = Client(server)
        await client.open()
        client.send("/v1/translate", body)
        await asyncio.sleep(0.3)
        client.close()
        counts["abandoned"] = counts.get("abandoned", 0) + 1
        await asyncio.sleep(1)


async def idle(server, end, _):
    """Opens 1000 connections that send nothing."""
    while time.perf_counter() < end:
        connections = [await asyncio.open_connection(server.host, server.port) for _ in range(1000)]
        await asyncio.sleep(min(30, max(0.1, end - time.perf_counter())))
        for _, writer in connections:
            writer.close()


async def broken(server, end, counts):
    """Sends what is no request."""
    bodies = [b"{", b"\xff" * 1000, b"[" * 100_000, b'{"text": [' + b'"",' * 400_000 + b'""]}']
    choose = random.Random(1)
    while time.perf_counter() < end:
        client = Client(server)
        await client.open()
        status, answer = await client.post("/v1/translate", choose.choice(bodies))
        assert status in {400, 413} | BUSY and "error" in json.loads(answer), (status, answer[:300])
        client.close()
        counts["broken"] = counts.get("broken", 0) + 1
        await asyncio.sleep(0.2)


async def wrong_keys(server, end, counts):
    """Tries keys."""
    while time.perf_counter() < end:
        for attempt in range(100):
            reader, writer = await asyncio.open_connection(server.host, server.port)
            head = f"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong{attempt}\r\n"
            writer.write(head.encode() + b"Content-Length: 15\r\nConnection: close\r\n\r\n" + b'{"text": "aaa"}')
            status = int((await reader.readline()).split()[1])
            assert status in (403, 429), status
            counts[status] = counts.get(status, 0) + 1
            writer.close()
        await asyncio.sleep(1)


OTHERS = {
    "300 held bodies of 1.5 MB": held,
    "20 unread answers": unread,
    "clients that leave": abandoned,
    "1000 idle connections": idle,
    "broken requests": broken,
    "wrong keys": wrong_keys,
}


async def waiting(server, end, texts, expected):
    """Has a client translate one short sentence after the other. Returns the times in ms."""
    times = []
    client = Client(server)
    await client.open()
    index = random.Random(len(texts)).randrange(len(texts))
    while time.perf_counter() < end:
        index = (index + 1) % len(texts)
        began = time.perf_counter()
        status, body = await client.post("/translate", {**SHORT, "q": texts[index]})
        times.append(1000 * (time.perf_counter() - began))
        assert status == 200, (status, body)
        found = json.loads(body)["translatedText"]
        assert found == expected[index], f"{texts[index]}: {found} is not {expected[index]}"
        await asyncio.sleep(0.02)
    client.close()
    return times


def percentiles(times):
    times = sorted(times)
    at = [times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.95, 0.99)]
    return f"p50 {at[0]:6.1f}  p95 {at[1]:6.1f}  p99 {at[2]:6.1f}  most {times[-1]:6.1f} ms  ({len(times)})"


def started(server, end, names, counts):
    """Starts the named loads."""
    tasks = []
    for name in names:
        if name in OTHERS:
            tasks.append(asyncio.create_task(OTHERS[name](server, end, counts)))
            continue
        path, body, clients, statuses = HEAVY[name]
        tasks += [asyncio.create_task(repeat(server, end, counts, path, body, statuses)) for _ in range(clients)]
    return tasks


async def beside(server, seconds, names, texts, expected):
    counts = {}
    end = time.perf_counter() + seconds
    tasks = started(server, end, names, counts)
    await asyncio.sleep(0.5)
    times = await waiting(server, end, texts, expected)
    await asyncio.gather(*tasks)
    return times, counts


def fairness(server, seconds, texts, expected):
    """Prints how long a short sentence waits beside each load, and beside all of them."""
    everything = [*HEAVY, *OTHERS]
    for name, names in [("nothing", []), *((name, [name]) for name in everything), ("all of these", everything)]:
        times, counts = asyncio.run(beside(server, seconds, names, texts, expected))
        print(f"{name:32} {percentiles(times)}  {server.memory():5.0f} MB  {counts}", flush=True)


async def abuse(server, minutes, texts, expected):
    """Sends everything at once beside 8 honest clients, and prints times, memory, files and threads."""
    counts, times = {}, []
    end = time.perf_counter() + 60 * minutes
    tasks = started(server, end, [*HEAVY, *OTHERS], counts)
    honest = [asyncio.create_task(waiting(server, end, texts, expected)) for _ in range(8)]

    async def sample():
        began, most = time.perf_counter(), 0
        printed = began
        while time.perf_counter() < end:
            await asyncio.sleep(0.25)
            most = max(most, server.memory())
            if time.perf_counter() - printed >= min(60, 15 * minutes):
                printed = time.perf_counter()
                files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
                threads = len(list(Path(f"/proc/{server.process.pid}/task").iterdir()))
                minute = (printed - began) / 60
                print(f"minute {minute:5.1f}: at most {most:.0f} MB, {files} files, {threads} threads", flush=True)

    await sample()
    for found in await asyncio.gather(*honest):
        times += found
    await asyncio.gather(*tasks)
    print(f"8 honest clients: {percentiles(times)}")
    print(counts)
