"""Measures what the default strategy finds on topics its weights were not trained on.

Every topic of the webs is crawled to learn from. Then, fold by fold, weights are
trained without the topics of the fold, which are crawled with them.

    python -m bench.left_out WEB... [--vectors none] [--folds 5] [--by-web]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import msgspec

from opilio.lab import label_guard
from opilio.lab.labels import read_labels
from opilio.lab.measures import measure
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.training.train import assembled, lessons, train, trial_of, write_weights
from opilio.lab.trial import conduct
from opilio.lab.web_pages import open_atlas
from opilio.lab.webs import open_web
from opilio.pretrained import load_weights


def main() -> None:
    """Print the share of the oracle of each web and topic."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("webs", nargs="+")
    parser.add_argument("--vectors", default="auto")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--by-web", action="store_true", help="leave whole webs out")
    parser.add_argument("--readings", default="", help="a folder to share readings in")
    args = parser.parse_args()
    grounds = []
    for folder in args.webs:
        web = open_web(Path(folder))
        grounds.append(Ground(web, open_atlas(web.warcs), read_labels(web.labels)))
    plain = args.vectors == "none"
    with TemporaryDirectory() as spare:
        readings = Path(args.readings or spare)
        both = [(ground, list(ground.web.topics)) for ground in grounds]
        seen = list(lessons(both, readings, vectors=args.vectors, jobs=2))
        tasks = [(ground, topic) for ground, topics in both for topic in topics]
        known = load_weights()
        before = known.without_vectors if plain else known.with_vectors
        secrets = [p for g in grounds for p in (g.web.labels, *g.web.topics.values())]
        webs = [ground.web.name for ground in grounds]
        groups = webs if args.by_web else range(args.folds)
        found: dict[str, list[float]] = {name: [] for name in webs}
        with label_guard.processes(2, secrets) as processes:
            futures = []
            for fold in groups:
                out = [
                    number
                    for number in range(len(tasks))
                    if (
                        seen[number].web == fold
                        if args.by_web
                        else number % args.folds == fold
                    )
                ]
                kept = [one for number, one in enumerate(seen) if number not in out]
                weights = train(kept, before)
                file = Path(spare) / f"{fold}.json"
                made = (None, weights) if plain else (weights, None)
                write_weights(file, assembled(*made, {}))
                for number in out:
                    ground, topic = tasks[number]
                    course = ground.course(topic)
                    trial = trial_of(ground, course, readings, args.vectors, str(file))
                    futures.append(
                        (ground, topic, course, processes.submit(conduct, trial))
                    )
            for ground, topic, course, future in futures:
                visits = future.result().visits
                measures, _ = measure(visits, course.targets, course.R)
                share = measures.aurc / course.oracle.aurc
                found[ground.web.name].append(share)
                print(f"{ground.web.name}\t{topic}\t{share:.3f}", flush=True)
    for name, shares in found.items():
        print(f"{name}: {fmean(shares):.3f} of the oracle over {len(shares)} topics")
    print(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main()
