"""Keeps one SeaweedFS for all test processes, and ends it when none has needed it for a while.

    keeper.py FOLDER WEED IDENTITIES

Whoever uses the server holds a shared lock on FOLDER/users; the system gives it back however a
process ends. FOLDER/server.json says where the server listens, for as long as it runs.
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Tests that need it follow one another closely; between two of them it must not be ended.
IDLE_SECONDS = 15


def free_ports(count):
    """Finds ports whose gRPC companions, 10,000 above them, are free as well."""
    found = []
    held = []
    while len(found) < count:
        try:
            low = socket.socket()
            low.bind(("127.0.0.1", 0))
            port = low.getsockname()[1]
            if port > 55_535:
                # Most systems give out high ports only: look for a pair further down.
                low.close()
                low = socket.socket()
                port -= 20_000
                low.bind(("127.0.0.1", port))
            high = socket.socket()
            high.bind(("127.0.0.1", port + 10_000))
        except OSError:
            continue
        held += [low, high]
        found.append(port)
    for one in held:
        one.close()
    return found


def end_with_me():
    """Lets Linux end the server when this program is killed; elsewhere it would stay."""
    if sys.platform == "linux":
        die_with_parent = 1
        ctypes.CDLL(None).prctl(die_with_parent, signal.SIGKILL)


def start(weed, identities, data):
    master, volume, filer, s3 = free_ports(4)
    config = Path(data) / "identities.json"
    config.write_text(identities)
    log = (Path(data) / "weed.log").open("wb")
    server = subprocess.Popen(
        [
            weed,
            f"-logdir={data}",
            "server",
            f"-dir={data}",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            "-master.telemetry=false",
            f"-master.port={master}",
            "-master.volumeSizeLimitMB=64",
            f"-volume.port={volume}",
            # Every bucket has a volume or more of its own.
            "-volume.max=5000",
            f"-filer.port={filer}",
            f"-filer.localSocket={data}/filer.sock",
            "-s3",
            f"-s3.port={s3}",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-s3.autoCreateBucket=false",
            f"-s3.localSocket={data}/s3.sock",
            f"-s3.config={config}",
        ],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd=data,
        # One volume at a time, where seven would be made beforehand.
        env={**os.environ, "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"},
        preexec_fn=end_with_me,
    )
    # It names these by itself, outside of its folder, and leaves them behind when it is killed.
    sockets = {"master": master, "volume": volume, "filer": filer, "s3": s3}
    left = [Path(f"/tmp/seaweedfs-{of}-grpc-{port + 10_000}.sock") for of, port in sockets.items()]
    return server, s3, left


def nobody_for_a_while(server, users):
    """Waits until nobody uses the server, or it ended; leaves `users` locked against new ones."""
    idle = 0
    while server.poll() is None:
        time.sleep(1)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            idle = 0
            continue
        idle += 1
        if idle >= IDLE_SECONDS:
            return
        fcntl.flock(users, fcntl.LOCK_UN)


def main(folder, weed, identities):
    folder = Path(folder)
    said = folder / "server.json"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with (
        (folder / "users").open("a") as users,
        tempfile.TemporaryDirectory(prefix="gistmill-seaweed-") as data,
    ):
        server, port, left = start(weed, identities, data)
        try:
            written = folder / f"server.{os.getpid()}"
            written.write_text(json.dumps({"port": port, "log": f"{data}/weed.log"}))
            written.replace(said)
            nobody_for_a_while(server, users)
        finally:
            said.unlink(missing_ok=True)
            server.kill()
            server.wait()
            for socket_file in left:
                socket_file.unlink(missing_ok=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
