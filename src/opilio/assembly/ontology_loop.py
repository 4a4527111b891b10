"""Improves the ontology of a crawl from its pages, as a person decides (Koundal, §5.A).

DIR/ontology/ has, beside the improved files:

    proposals.json    the latest proposals
    decisions.jsonl   every decision with its time, one a line; lines are only added
    lock              held while a decision is written, so that two people can decide

An improved file is always rewritten from the original file and everything accepted, so
after a crash the next decision completes it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import msgspec

from opilio.assembly.crawled_pages import CrawledPage, best_first
from opilio.assembly.plan import load_plan
from opilio.assembly.reader_process import ReaderProcess
from opilio.errors import BadInput
from opilio.records import ReaderSetup, Response
from opilio.store.folder import CrawlFolder
from opilio.subject.improved_ontology import improved_file, with_improved
from opilio.topic import Topic
from opilio.topic.ontology import CrawledText, Proposal, load_ontology, propose
from opilio.topic.ontology.improve import Accepted, write_improved
from opilio.topic.ontology.model import Relation
from opilio.topic.ontology.propose import TERM
from opilio.topic.ontology.text_patterns import LABEL

PAGES = 500  # that are read for proposals, the best ones
FEWEST = 3  # pages needed before anything is proposed
ACCEPT, REJECT, EDIT = "accept", "reject", "edit"


class Decision(msgspec.Struct, frozen=True):
    """What a person decided about a proposal, and when."""

    action: str  # accept, reject or edit
    proposal: Proposal  # as it is now
    when: str
    before: Proposal | None = None  # of an edit: what it was


class Loop:
    """The proposals for the ontology of a crawl, and what was decided about them."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.folder = folder.require()
        self.topic = load_plan(folder).topic
        if self.topic.ontology is None:
            raise BadInput(
                f"{folder.path} is crawled without an ontology; add [ontology] files = "
                "['FILE'] to its topic file, then: opilio rejudge "
                f"{folder.path} TOPIC.toml"
            )
        self.listed = folder.ontology / "proposals.json"
        self.decided = folder.ontology / "decisions.jsonl"

    def propose(
        self,
        most: int = 50,
        pages: int = PAGES,
        tell: Callable[[int], None] = lambda pages: None,
    ) -> list[Proposal]:
        """What the ontologies lack according to the kept pages, without what was
        decided."""
        self.complete()
        topic = with_improved(self.topic, self.folder)
        files = topic.ontology.files if topic.ontology else ()
        texts = []
        for text in read_pages(self.folder, topic, pages):
            texts.append(text)
            tell(len(texts))
        if len(texts) < FEWEST:
            raise BadInput(
                f"{self.folder.path} has {len(texts)} relevant pages that can be read; "
                f"proposals need {FEWEST} or more. Crawl on, then ask again"
            )
        without = {key for one in self.decisions() for key in keys_of(one)}
        found = [
            replace(one, file=first)
            for file, first in zip(files, first_files(self.topic), strict=True)
            for one in propose(
                load_ontology(Path(file)),
                texts,
                language=topic.language,
                most=most,
                without=without,
            )
        ]
        with self.alone():
            self.save(found)
        return found

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other process decides about this ontology."""
        self.folder.ontology.mkdir(exist_ok=True)
        with (self.folder.ontology / "lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the process ends
            yield

    def proposals(self) -> list[Proposal]:
        """The latest proposals; BadInput if there are none yet."""
        try:
            data = self.listed.read_bytes()
        except OSError:
            raise BadInput(
                f"nothing has been proposed for {self.folder.path} yet; type: opilio "
                f"ontology propose {self.folder.path}"
            ) from None
        try:
            return msgspec.json.decode(data, type=list[Proposal])
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise BadInput(
                f"{self.listed} is damaged; type: opilio ontology propose "
                f"{self.folder.path}, which writes it again"
            ) from None

    def save(self, proposals: Sequence[Proposal]) -> None:
        """Store a list for the decisions that follow."""
        draft = self.listed.with_suffix(".new")
        draft.write_bytes(msgspec.json.encode(proposals))
        draft.replace(self.listed)

    def decisions(self) -> list[Decision]:
        """All decisions, oldest first; an incomplete last line is left out."""
        if not self.decided.is_file():
            return []
        found = []
        for line in self.decided.read_bytes().splitlines():
            try:
                found.append(msgspec.json.decode(line, type=Decision))
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
        return found

    def choose(self, names: Sequence[str]) -> list[Proposal]:
        """The proposals with these numbers or terms; BadInput for an unknown one."""
        listed = self.proposals()
        return [chosen for name in names for chosen in chosen_by(name, listed)]

    def accept(self, names: Sequence[str]) -> tuple[list[Proposal], list[Path]]:
        """Add proposals to the ontology; returns them and the files that were made."""
        with self.alone():
            chosen = self.choose(names)
            if unsure := [one for one in chosen if not (one.concept_id or one.concept)]:
                raise BadInput(
                    f"{unsure[0].term!r} has no concept to stand beside; edit it"
                )
            when = now()
            self.remember([Decision(ACCEPT, one, when) for one in chosen])
            files = [self.write(file) for file in dict.fromkeys(p.file for p in chosen)]
            self.drop(chosen)
        return chosen, files

    def reject(self, names: Sequence[str]) -> list[Proposal]:
        """Never propose these again."""
        with self.alone():
            chosen = self.choose(names)
            when = now()
            self.remember([Decision(REJECT, one, when) for one in chosen])
            self.drop(chosen)
        return chosen

    def edit(
        self, name: str, *, term: str = "", relation: str = "", concept: str = ""
    ) -> Proposal:
        """Change a proposal before it is accepted."""
        with self.alone():
            [before] = self.choose([name])[:1]
            made = before
            if term:
                made = replace(made, term=" ".join(term.split()))
            if relation:
                made = with_relation(made, relation)
            if concept:
                made = self.beside(made, concept)
            listed = [made if one == before else one for one in self.proposals()]
            self.remember([Decision(EDIT, made, now(), before)])
            self.save(listed)
        return made

    def beside(self, proposal: Proposal, concept: str) -> Proposal:
        """The proposal at another concept, by any of its labels."""
        from opilio.topic.ontology.services import place_of

        better = improved_file(self.folder, proposal.file)
        ontology = load_ontology(better if better.is_file() else Path(proposal.file))
        found = ontology.populated.concepts[place_of(ontology, concept)]
        return replace(proposal, concept=found.label, concept_id=found.id)

    def remember(self, decisions: Sequence[Decision]) -> None:
        """Append decisions to the log, durably."""
        with self.decided.open("ab") as file:
            if file.tell() and not ends_with_newline(self.decided):
                file.write(b"\n")  # after an incomplete line
            file.write(b"".join(msgspec.json.encode(d) + b"\n" for d in decisions))
            file.flush()
            os.fsync(file.fileno())

    def drop(self, decided: Sequence[Proposal]) -> None:
        """Remove what was decided from the list; the others keep their order."""
        keys = {one.key for one in decided}
        self.save([one for one in self.proposals() if one.key not in keys])

    def complete(self) -> None:
        """Write improved files again that are gone or cannot be read."""
        with self.alone():
            accepted = (one for one in self.decisions() if one.action == ACCEPT)
            for file in dict.fromkeys(one.proposal.file for one in accepted):
                try:
                    load_ontology(improved_file(self.folder, file))
                except (BadInput, OSError):
                    self.write(file)

    def write(self, file: str) -> Path:
        """Write the improved form of a file, with all that was accepted so far."""
        accepted: dict[tuple[str, str, str], Accepted] = {}
        for one in self.decisions():
            if one.action == ACCEPT and one.proposal.file == file:
                made = Accepted(proposal=one.proposal, when=one.when)
                accepted[one.proposal.key] = made
        target = improved_file(self.folder, file)
        write_improved(Path(file), list(accepted.values()), target)
        return target


def read_pages(
    folder: CrawlFolder, topic: Topic, most: int, *, relevant: bool = True
) -> Iterator[CrawledText]:
    """The best pages that were kept, or were not, in the language of the topic; read in
    a separate process."""
    kept = (
        page
        for page in best_first(folder, relevant=relevant)
        if page.relevant == relevant and is_read(page, topic)
    )
    setup = ReaderSetup((), topic.language, headings=True, text=True)
    with closing(ReaderProcess(setup)) as reader:
        found = ((page, response_of(page)) for page in islice(kept, most))
        for page, _, read in reader.pages(found):
            if read:
                anchors = [link.anchor for link in read.links]
                yield CrawledText(
                    page.url, read.text, read.title, read.headings, anchors
                )


def is_read(page: CrawledPage, topic: Topic) -> bool:
    """Whether a page is in the topic's language, as far as is known."""
    return page.language in ("", topic.language)


def response_of(page: CrawledPage) -> Response | None:
    """The stored page; None if it can no longer be read."""
    try:
        return page.response()
    except BadInput:
        return None


def first_files(topic: Topic) -> Sequence[str]:
    """The ontology files of a topic, none of them improved."""
    return topic.ontology.files if topic.ontology else ()


def keys_of(decision: Decision) -> Iterator[tuple[str, str, str]]:
    """What is not proposed again after a decision."""
    if decision.action == EDIT:
        return
    yield decision.proposal.key


def chosen_by(name: str, listed: Sequence[Proposal]) -> list[Proposal]:
    """What a number, a range of numbers or a term stands for in a list."""
    first, dash, last = name.partition("-")
    if first.isdecimal() and (last.isdecimal() or not dash):
        numbers = range(int(first), int(last or first) + 1)
        if not numbers or numbers[0] < 1 or numbers[-1] > len(listed):
            raise BadInput(
                f"there is no proposal {name}; the list has {len(listed)}: type opilio "
                "ontology propose DIR to see it"
            )
        return [listed[number - 1] for number in numbers]
    found = [one for one in listed if one.term.casefold() == name.casefold()]
    if not found:
        raise BadInput(
            f"{name!r} is not proposed; give a number of the list, a range such as "
            "1-5, or a term of it"
        )
    return found[:1]


def with_relation(proposal: Proposal, relation: str) -> Proposal:
    """The proposal with another relation; `label` makes a term another name."""
    known = [Relation.IS_A, Relation.PART_OF, Relation.HAS, Relation.RELATED, LABEL]
    if relation not in known:
        raise BadInput(f"no relation {relation!r}; there are: {', '.join(known)}")
    kind = proposal.kind
    if relation == LABEL:
        kind = LABEL
    elif kind == LABEL:
        kind = TERM
    return replace(proposal, kind=kind, relation=str(relation))


def ends_with_newline(path: Path) -> bool:
    """Whether a file that is not empty ends with a newline."""
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
