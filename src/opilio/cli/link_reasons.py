"""Says in words why a link was not used, and why a seed leads nowhere."""

from __future__ import annotations

from http import HTTPStatus

from opilio.cli.plain_text import plain
from opilio.store.seed_notes import SeedNote

REASONS = {
    "bad_answer": "sent a response that cannot be read",
    "bad_encoding": "sent a content coding that cannot be read",
    "bad_http": "sent invalid HTTP",
    "bad_redirect": "redirects to an invalid URL",
    "bad_url": "is not a valid URL",
    "block": "in a part of a page that is not about the topic",
    "blocked_address": "is at a private address (see --allow-network)",
    "blocked_port": "is at a port that belongs to another service",
    "capacity": "parked on disk while better links fill the queue",
    "connect": "connection failed",
    "content": "has the same content as another page",
    "dead_host": "host does not answer; retried later",
    "dns": "host has no address (DNS)",
    "dns_temporary": "host has no address at the moment (DNS)",
    "domain_budget": "page limit of the domain reached (bounds.per_domain)",
    "empty": "sent an empty page",
    "host_budget": "page limit of the host reached (bounds.per_host)",
    "host_gone": "host did not answer for too long (politeness.retry_for)",
    "irrelevant_page": "on a page that is not relevant",
    "moved": "redirects by a rule of its host; the target is fetched instead",
    "near": "is nearly the same as another page",
    "network": "network failure",
    "not_archived": "not in the WARC files that are replayed",
    "not_html": "neither HTML nor a document that [documents] asks for",
    "offline": "no host could be reached; retried later",
    "page": "on a page that is not relevant enough",
    "parse_crashed": "could not be read (parser failed)",
    "parse_timeout": "could not be read in time",
    "pdf_broken": "is a broken PDF file",
    "pdf_encrypted": "is an encrypted PDF file",
    "pdf_no_text": "is a PDF file without text, such as scanned paper",
    "poison": "crashed the crawl three times",
    "redirect": "redirects to another URL",
    "redirect_loop": "redirects to itself",
    "redirects": "redirects too often (fetch.max_redirects)",
    "refused": "connection refused",
    "robots": "forbidden by robots.txt",
    "robots_unreachable": "robots.txt cannot be fetched",
    "scheme": "neither http nor https",
    "scope": "outside [scope]",
    "slow": "is slow, and other slow servers go first",
    "template_budget": "URL template brings nothing new (bounds.novelty)",
    "timeout": "timed out",
    "tls": "TLS failure",
    "tls_bad_certificate": "TLS certificate is not valid",
    "tls_expired": "TLS certificate has expired",
    "tls_not_yet_valid": "TLS certificate is not valid yet",
    "tls_revoked": "TLS certificate was revoked",
    "tls_self_signed": "TLS certificate is self-signed",
    "tls_unknown_issuer": "TLS certificate is from an unknown issuer",
    "tls_wrong_host": "TLS certificate is for another host",
    "too_large": "is a PDF file larger than documents.pdf_bytes",
    "too_many_headers": "sent too many headers",
    "too_many_redirects": "redirects too often (fetch.max_redirects)",
    "trap_depth": "too many links away from a seed (bounds.max_depth)",
    "trap_length": "URL too long (bounds.max_url_length)",
    "trap_repeats": "URL repeats itself (bounds.max_repeats)",
    "trap_segments": "URL has too many segments (bounds.max_segments)",
    "trap_template": "too many URLs of one template (bounds.per_template)",
    "tunnel": "too many irrelevant pages in a row",
}
OBSTACLES = {
    "out_of_scope": "is outside [scope]",
    "noindex": "asks not to be shown or exported (noindex)",
    "nofollow": "asks that its links are not followed (nofollow)",
    "no_links": "has no links (scripts are not run; see --render)",
    "links_out_of_scope": "has only links outside [scope]",
    "links_nofollow": "has only links marked nofollow",
    "links_forbidden": "has only links that are outside [scope] or marked nofollow",
}


def reason_in_words(reason: str) -> str:
    """Why a link was not used.

    >>> reason_in_words("http_404"), reason_in_words("robots")
    ('answered 404 (Not Found)', 'forbidden by robots.txt')
    """
    status = reason.removeprefix("http_")
    if status != reason and status.isdecimal():
        try:
            return f"answered {status} ({HTTPStatus(int(status)).phrase})"
        except ValueError:
            return f"answered {status}"
    return REASONS.get(reason, reason)


def obstacle_in_words(obstacle: str) -> str:
    """Why a page leads nowhere."""
    return OBSTACLES.get(obstacle) or reason_in_words(obstacle)


def seed_in_words(seed: SeedNote) -> str:
    """What is wrong with a seed, in a sentence."""
    wrong = " and ".join(map(obstacle_in_words, seed.obstacles))
    return f"{plain(seed.url)}: {wrong}"
