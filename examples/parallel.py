#!/usr/bin/env python3
"""One rank of a data-parallel training, for `srun`: see parallel.sh.

Who it is comes from SLURM_PROCID and SLURM_NTASKS, where rank 0 listens from MASTER_ADDR and
MASTER_PORT. Gradients are averaged with PyTorch's gloo where PyTorch is installed, else over plain
sockets: every rank sends its own to rank 0, which sends the mean back.
"""
import argparse
import os
import socket
import struct
import sys
import time

from train import dataset, gradient_function, load, save


class Sockets:
    """A star around rank 0."""

    def __init__(self, rank, world, address):
        self.rank, self.peers = rank, []
        if rank == 0:
            with socket.create_server(("", address[1]), backlog=world) as listener:
                for _ in range(1, world):
                    self.peers.append(listener.accept()[0])
        else:
            self.peers.append(self.connect(address, patience=30))
        for peer in self.peers:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @staticmethod
    def connect(address, patience):
        end = time.monotonic() + patience
        while True:
            try:
                return socket.create_connection(address, timeout=patience)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    @staticmethod
    def send(peer, values):
        peer.sendall(struct.pack(f"<{len(values)}d", *values))

    @staticmethod
    def receive(peer, count):
        data = bytearray()
        while len(data) < 8 * count:
            piece = peer.recv(8 * count - len(data))
            if not piece:
                raise ConnectionError("a rank has gone")
            data += piece
        return struct.unpack(f"<{count}d", data)

    def mean(self, values):
        if self.rank:
            self.send(self.peers[0], values)
            return list(self.receive(self.peers[0], len(values)))
        sums = list(values)
        for peer in self.peers:
            for i, value in enumerate(self.receive(peer, len(values))):
                sums[i] += value
        mean = [value / (len(self.peers) + 1) for value in sums]
        for peer in self.peers:
            self.send(peer, mean)
        return mean


class Gloo:
    def __init__(self, rank, world, address):
        import torch
        import torch.distributed as distributed
        self.torch, self.distributed, self.world = torch, distributed, world
        distributed.init_process_group("gloo", init_method=f"tcp://{address[0]}:{address[1]}", rank=rank,
                                       world_size=world)

    def mean(self, values):
        tensor = self.torch.tensor(values, dtype=self.torch.float64)
        self.distributed.all_reduce(tensor)
        return (tensor / self.world).tolist()


def network(rank, world, address):
    try:
        import torch.distributed  # noqa: F401
        return "gloo", Gloo(rank, world, address)
    except ImportError:
        return "sockets", Sockets(rank, world, address)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default="parallel.json")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--every", type=int, default=5, help="steps between two checkpoints")
    parser.add_argument("--pace", type=float, default=0.02, help="seconds to rest after each step")
    return parser.parse_args()


def main():
    options = parse()
    rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    state = load(options.checkpoint)
    means, net = network(rank, world, address)
    engine, gradient = gradient_function()
    print(f"rank {rank} of {world} on {os.environ['SLURMD_NODENAME']}, pid {os.getpid()}: gradients by {engine}, "
          f"means by {means}, from step {state['step']}", flush=True)
    data, loss = dataset(rank, world), None
    while state["step"] < options.steps:
        mine, slopes = gradient(state["weights"], data)
        loss, *slopes = net.mean([mine] + slopes)
        for i, slope in enumerate(slopes):
            state["velocity"][i] = 0.9 * state["velocity"][i] - options.rate * slope
            state["weights"][i] += state["velocity"][i]
        state["first_loss"] = state["first_loss"] or loss
        state["step"] += 1
        if rank == 0 and state["step"] % 20 == 0:
            print(f"step {state['step']:4} loss {loss:.5f}", flush=True)
        if rank == 0 and state["step"] % options.every == 0:
            save(options.checkpoint, state)
        time.sleep(options.pace)
    if rank == 0 and loss is not None:
        save(options.checkpoint, state)
        print(f"finished: loss {state['first_loss']:.5f} -> {loss:.5f} in {state['step']} steps", flush=True)
        if loss >= state["first_loss"]:
            sys.exit("the loss did not fall")


if __name__ == "__main__":
    main()
