#!/usr/bin/env python3
"""A small but real training program: data-parallel, with checkpoints, resumable.

It fits a two-layer network to a curve. One process per GPU that the job was given computes
gradients on its share of the data; the processes average them over loopback sockets at every step,
as large training programs do over their network. Only the standard library is needed; with
PyTorch installed the gradients come from it (on the GPU, if there is a real one).

The state is written to the checkpoint file every few steps, and at SIGTERM. A run that finds the
file goes on from it, so a requeued job loses at most those few steps.
"""
import argparse
import json
import math
import os
import random
import signal
import sys
import time
from multiprocessing import get_context
from multiprocessing.connection import Client, Listener

HIDDEN = 12
SAMPLES = 64


def dataset(rank, world):
    """The points that belong to this rank."""
    points = [-1 + 2 * i / (SAMPLES - 1) for i in range(SAMPLES)]
    return [(x, math.sin(3 * x)) for x in points[rank::world]]


def first_weights():
    rng = random.Random(7)
    return [rng.uniform(-1, 1) for _ in range(3 * HIDDEN)] + [0.0]


def plain_gradient(weights, data):
    """Mean squared error of y = b + sum(v * tanh(u * x + c)), and its gradient."""
    u, c, v, b = weights[:HIDDEN], weights[HIDDEN:2 * HIDDEN], weights[2 * HIDDEN:3 * HIDDEN], weights[-1]
    loss, grad = 0.0, [0.0] * len(weights)
    for x, wanted in data:
        hidden = [math.tanh(u[i] * x + c[i]) for i in range(HIDDEN)]
        error = b + sum(v[i] * hidden[i] for i in range(HIDDEN)) - wanted
        loss += error * error / len(data)
        scale = 2 * error / len(data)
        grad[-1] += scale
        for i in range(HIDDEN):
            back = scale * v[i] * (1 - hidden[i] ** 2)
            grad[i] += back * x
            grad[HIDDEN + i] += back
            grad[2 * HIDDEN + i] += scale * hidden[i]
    return loss, grad


def torch_gradient(torch):
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def gradient(weights, data):
        w = torch.tensor(weights, dtype=torch.float64, device=device, requires_grad=True)
        x = torch.tensor([p[0] for p in data], dtype=torch.float64, device=device)
        wanted = torch.tensor([p[1] for p in data], dtype=torch.float64, device=device)
        hidden = torch.tanh(w[:HIDDEN] * x[:, None] + w[HIDDEN:2 * HIDDEN])
        loss = ((hidden @ w[2 * HIDDEN:3 * HIDDEN] + w[-1] - wanted) ** 2).mean()
        loss.backward()
        return loss.item(), w.grad.tolist()

    return gradient


def gradient_function():
    try:
        import torch
    except ImportError:
        return "the standard library", plain_gradient
    return f"PyTorch {torch.__version__}", torch_gradient(torch)


def save(path, state):
    """Whole or not at all, whatever happens meanwhile."""
    with open(path + ".new", "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def load(path):
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return {"step": 0, "weights": first_weights(), "velocity": [0.0] * (3 * HIDDEN + 1), "first_loss": None}


def devices():
    """The GPUs of this job, as the scheduler numbers them for it."""
    return [d for d in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if d]


def worker(rank, world, device, address, key):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # rank 0 decides when to stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["CUDA_VISIBLE_DEVICES"] = device
    _, gradient = gradient_function()
    data = dataset(rank, world)
    with Client(address, authkey=key) as leader:
        leader.send(rank)
        try:
            while (weights := leader.recv()) is not None:
                leader.send(gradient(weights, data))
        except (EOFError, ConnectionError):
            pass  # the leader is gone, and so is the work


def train(options, state, peers, gradient, data, stop):
    world = len(peers) + 1
    loss = None
    while state["step"] < options.steps and not stop:
        for peer in peers:
            peer.send(state["weights"])
        results = [gradient(state["weights"], data)] + [peer.recv() for peer in peers]
        loss = sum(r[0] for r in results) / world
        for i, slopes in enumerate(zip(*(r[1] for r in results))):
            state["velocity"][i] = 0.9 * state["velocity"][i] - options.rate * sum(slopes) / world
            state["weights"][i] += state["velocity"][i]
        state["first_loss"] = state["first_loss"] or loss
        state["step"] += 1
        if state["step"] % 20 == 0:
            print(f"step {state['step']:4} loss {loss:.5f}", flush=True)
        if state["step"] % options.every == 0:
            save(options.checkpoint, state)
        time.sleep(options.pace)
    save(options.checkpoint, state)
    return loss


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default="checkpoint.json")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--every", type=int, default=5, help="steps between two checkpoints")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds to rest after each step")
    return parser.parse_args()


def main():
    options = parse()
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    mine = devices() or [""]
    world = len(mine)
    state = load(options.checkpoint)
    restarts = os.environ.get("SLURM_RESTART_COUNT", "0")
    print(f"job {os.environ.get('SLURM_JOB_ID', '-')}, restart {restarts}: {world} processes on "
          f"GPUs {','.join(mine) or 'none'} of {os.environ.get('SLURMD_NODENAME', 'this machine')}", flush=True)
    if state["step"]:
        print(f"resumed from step {state['step']}", flush=True)

    key = os.urandom(16)
    context = get_context("fork")
    with Listener(("127.0.0.1", 0), authkey=key) as listener:
        workers = [context.Process(target=worker, args=(rank, world, mine[rank], listener.address, key), daemon=True)
                   for rank in range(1, world)]
        for process in workers:
            process.start()
        peers = [listener.accept() for _ in workers]
    ranks = [peer.recv() for peer in peers]
    os.environ["CUDA_VISIBLE_DEVICES"] = mine[0]
    engine, gradient = gradient_function()
    print(f"gradients by {engine}; ranks {[0] + sorted(ranks)}", flush=True)

    loss = train(options, state, peers, gradient, dataset(0, world), stop)
    for peer in peers:
        peer.send(None)
    for process in workers:
        process.join()
    if stop:
        print(f"asked to stop at step {state['step']}; the checkpoint is written", flush=True)
        sys.exit(128 + signal.SIGTERM)
    if loss is None:
        print("nothing left to do", flush=True)
        return
    print(f"finished: loss {state['first_loss']:.5f} -> {loss:.5f} in {state['step']} steps", flush=True)
    if loss >= state["first_loss"]:
        sys.exit("the loss did not fall")


if __name__ == "__main__":
    main()
