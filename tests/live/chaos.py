"""A TCP proxy that behaves badly when told to: between an agent and the controller.

    with Chaos(("10.0.0.1", 0), ("10.0.0.1", 7411)) as proxy:
        proxy.delay = 0.2      # every piece waits that long
        proxy.cut()            # all connections end, and new ones are refused until mend()
        proxy.freeze()         # connections stay and carry nothing more, in either direction (half open)
        proxy.orphan()         # the agent's side ends, the controller's side stays: it sees two of him
"""
import contextlib
import select
import socket
import threading
import time


class Chaos:
    def __init__(self, at, to):
        self.to = to
        self.delay = 0.0
        self.refusing = False
        self.frozen = set()
        self.pairs = []
        self.sockets = []  # all there ever were
        self.lock = threading.Lock()
        self.listener = socket.create_server(at, reuse_port=False)
        self.address = f"{at[0]}:{self.listener.getsockname()[1]}"
        self.open = True
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.open = False
        self.listener.close()
        self.cut()
        self.thread.join(5)
        for end in self.sockets:
            end.close()

    def connections(self):
        with self.lock:
            return len(self.pairs)

    def cut(self):
        self.refusing = True
        with self.lock:
            for pair in self.pairs:
                for end in pair:
                    with contextlib.suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)

    def mend(self):
        self.refusing = False

    def freeze(self):
        with self.lock:
            self.frozen.update(self.pairs)

    def orphan(self):
        with self.lock:
            for near, far in self.pairs:
                self.frozen.add((near, far))
                near.close()
            self.pairs.clear()

    def _accept(self):
        while self.open:
            try:
                if not select.select([self.listener], [], [], 0.2)[0]:
                    continue
                near, _ = self.listener.accept()
            except (OSError, ValueError):
                return
            if self.refusing:
                near.close()
                continue
            try:
                far = socket.create_connection(self.to, timeout=5)
            except OSError:
                near.close()
                continue
            pair = (near, far)
            with self.lock:
                self.pairs.append(pair)
                self.sockets += pair
            for one, other in (pair, pair[::-1]):
                threading.Thread(target=self._carry, args=(pair, one, other), daemon=True).start()

    def _carry(self, pair, one, other):
        try:
            while True:
                piece = one.recv(65536)
                while pair in self.frozen and self.open:
                    time.sleep(0.05)
                if not piece:
                    break
                if self.delay:
                    time.sleep(self.delay)
                other.sendall(piece)
        except OSError:
            pass
        if pair in self.frozen:
            return
        with self.lock:
            if pair in self.pairs:
                self.pairs.remove(pair)
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
