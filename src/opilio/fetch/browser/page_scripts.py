"""Scripts that Opilio runs in pages that are rendered.

They run beside the scripts of the page, which can disturb them. So nothing but the time
that a page is waited for depends on them, and that has a limit.
"""

from __future__ import annotations

QUIET = 0.25  # seconds without changes: the page is built
PATIENCE = 2.0  # seconds for a page that changes all the time
LATEST = 5.0  # seconds after its start, in which a page without text may be built
LITTLE = 200  # characters; a page with fewer has hardly any text
MOST_MARKUP = 10 * 2**20  # characters

NO_SOCKETS = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel",
                    "WebTransport", "WebSocketStream", "EventSource", "Worker",
                    "SharedWorker"])
    delete window[name];
delete Navigator.prototype.sendBeacon;
"""

# Notes what a page waits for: scripts and frames, data, timers. A request is known here
# before Opilio hears of it, however busy the machine is.
WATCH = f"""(() => {{
    const clock = performance.now.bind(performance);
    const later = window.setTimeout.bind(window);
    const forget = window.clearTimeout.bind(window);
    const awaited = new Set(), timers = new Map();
    let changed = clock();
    const done = mark => {{ awaited.delete(mark); changed = clock(); }};
    const until = promise => {{
        const mark = {{}};
        awaited.add(mark);
        promise.then(() => done(mark), () => done(mark));
        return promise;
    }};
    const watch = (owner, name) => {{
        const original = owner?.[name];
        if (original)
            owner[name] = function (...given) {{
                return until(original.apply(this, given));
            }};
    }};
    watch(window, "fetch");
    for (const name of ["arrayBuffer", "blob", "formData", "json", "text"])
        watch(Response.prototype, name);
    const send = XMLHttpRequest.prototype.send;
    XMLHttpRequest.prototype.send = function (...given) {{
        until(new Promise(end => this.addEventListener("loadend", end)));
        return send.apply(this, given);
    }};
    window.setTimeout = (run, wait, ...given) => {{
        if (typeof run !== "function") return later(run, wait);
        const timer = later(() => {{
            timers.delete(timer);
            run.apply(window, given);
        }}, wait);
        timers.set(timer, clock() + (Number(wait) || 0));
        return timer;
    }};
    window.clearTimeout = timer => {{ timers.delete(timer); forget(timer); }};
    new MutationObserver(records => {{
        changed = clock();
        for (const record of records)
            for (const node of record.addedNodes)
                if (["script", "iframe"].includes(node.localName) && node.src)
                    awaited.add(node);
    }}).observe(document, {{subtree: true, childList: true, characterData: true}});
    for (const kind of ["load", "error"])
        document.addEventListener(kind, event => done(event.target), true);
    const isLate = () =>
        (document.body?.innerText.length ?? 0) < {LITTLE}
        && [...timers.values()].some(due => due < {1000 * LATEST});
    const isBuilt = start => {{
        const now = clock();
        if (document.readyState === "loading") return false;
        if (now < {1000 * (LATEST + QUIET)} && isLate()) return false;
        if (now - start > {1000 * PATIENCE}) return true;
        return !awaited.size && now - changed >= {1000 * QUIET};
    }};
    const wait = start => new Promise(end => {{
        const look = () => isBuilt(start) ? end() : later(look, 50);
        look();
    }});
    Object.defineProperty(window, "opilioIsBuilt", {{value: () => wait(clock())}});
}})();
"""
IS_BUILT = "() => window.opilioIsBuilt && window.opilioIsBuilt()"

# With what is in shadow roots, as templates, and in frames of the same origin.
MARKUP = f"""() => {{
    const root = document.documentElement;
    if (!root) return "";
    for (const frame of document.querySelectorAll("iframe")) {{
        const text = document.createElement("section");
        try {{ text.innerHTML = frame.contentDocument.body.innerHTML; }} catch {{}}
        if (text.textContent.trim()) frame.replaceWith(text);
    }}
    const shadowRoots = [];
    const look = part => {{
        for (const element of part.querySelectorAll("*"))
            if (element.shadowRoot) {{
                shadowRoots.push(element.shadowRoot);
                look(element.shadowRoot);
            }}
    }};
    look(document);
    const [start, end] = root.cloneNode(false).outerHTML.split("</");
    const markup = start + root.getHTML({{shadowRoots}}) + "</" + end;
    return markup.length > {MOST_MARKUP} ? "" : "<!DOCTYPE html>\\n" + markup;
}}"""
