"""How long ClaimTracker takes for 50 conversations of 40 utterances when each call to the model takes 200 ms.

    python -m benchmarks.claims_bench
    python -m benchmarks.claims_bench --workers 50 --calls 64

Targets: 60 s with 8 conversations in flight, 20 s with a limit of 64 calls. A local HTTP server of its own process
plays the model; every utterance gives claims, so that every utterance costs an extraction and a consolidation. The
embedding and NLI models are the tests' stand-ins: what is measured is how the calls are arranged. Prints JSON.
"""

import json
import multiprocessing
import os
import time
import zlib
from multiprocessing.connection import Connection
from typing import Any

import click

from convolabel.llm import Limiter, get_eval_llm_client
from evaluators import ClaimTracker, Corpus, Speaker, Utterance
from tests.claims.fake_models import FakeEmbedder, FakeNLI
from tests.claims.scripted_model import Asked, asked_in
from tests.llm_stub_server import LLMStub

RELATIONS = ("neutral", "neutral", "equivalent", "forward_entail", "contradiction")


def corpus_of(conversations: int, utterances: int) -> Corpus:
    """Three participants and a mediator who speak in turn; participants wrote something before."""
    speakers = [Speaker(f"p{n}", ai_meta={"role": "participant"}) for n in range(3)]
    speakers.append(Speaker("bot", ai_meta={"role": "public assistant"}))
    corpus = Corpus(
        utterances=[
            Utterance(f"c{talk}.u{place}", speakers[place % 4], f"c{talk}", f"Talk {talk} has point {place}.", place)
            for talk in range(conversations)
            for place in range(utterances)
        ]
    )
    for talk, conversation in enumerate(corpus.iter_conversations()):
        conversation.meta["topic"] = "Points"
        conversation.meta["pre_survey"] = {f"p{n}": f"Talk {talk} begins with view {n}." for n in range(3)}
    return corpus


def answer(prompt: str) -> str:
    """The same answer to the same prompt, always."""
    asked = asked_in(prompt)
    if asked.kind == "extraction":
        return json.dumps({"claims": [{"claim": f"It holds that {asked.target['text']}", "kind": "own"}]})
    if asked.kind == "agreement":
        return json.dumps({"pairs": [{"a": 0, "b": 0, "relation": "agree"}]})
    return json.dumps({"relations": [_relation(row, asked) for row in asked.new]})


def _relation(row: dict[str, Any], asked: Asked) -> dict[str, Any]:
    number = zlib.crc32(row["claim"].encode())
    relation = RELATIONS[number % len(RELATIONS)]
    target = None if relation == "neutral" else asked.shown[number % len(asked.shown)]["id"]
    return {"new": row["new"], "relation": relation, "target": target, "supersedes": False}


def serve(latency: float, said: Connection) -> None:
    """The server, until it is ended from outside."""
    with LLMStub(answer, latency=latency) as stub:
        said.send(stub.openai_url)
        while said.poll(None):
            said.recv()
            said.send((len(stub.calls), stub.most_in_flight))


@click.command()
@click.option("--conversations", default=50, show_default=True)
@click.option("--utterances", default=40, show_default=True)
@click.option("--latency", default=0.2, show_default=True, help="Seconds per call.")
@click.option("--workers", type=int, help="Conversations in flight; with --calls one measurement instead of two.")
@click.option("--calls", type=int, help="Calls in flight at most.")
def main(conversations: int, utterances: int, latency: float, workers: int | None, calls: int | None) -> None:
    """Measure and print."""
    runs = [(workers or 8, calls or 64)] if workers or calls else [(8, 64), (conversations, 64)]
    results = [measured(conversations, utterances, latency, *run) for run in runs]
    print(json.dumps({"load_average": os.getloadavg(), "cores": os.cpu_count(), "runs": results}, indent=2))


def measured(conversations: int, utterances: int, latency: float, workers: int, calls: int) -> dict[str, Any]:
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(latency, theirs), daemon=True)
    server.start()
    try:
        client = get_eval_llm_client("gpt-5-mini", base_url=ours.recv(), api_key="none", limiter=Limiter(calls))
        tracker = ClaimTracker(client, embedder=FakeEmbedder(), nli=FakeNLI(), n_workers=workers, verbosity=0)
        corpus = corpus_of(conversations, utterances)
        began, cpu = time.perf_counter(), time.process_time()
        tracker.transform(corpus)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        ours.send("how many?")
        asked, most = ours.recv()
    finally:
        server.terminate()
        server.join()
    assert tracker.report is not None
    return {
        "conversations_in_flight": workers,
        "limit_of_calls": calls,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "calls": asked,
        "most_calls_in_flight": most,
        "statuses": tracker.report.totals,
    }


if __name__ == "__main__":
    main()
