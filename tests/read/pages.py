"""Pages of the shapes that the web has, and damaged ones made of them, for tests."""

from __future__ import annotations

import random

ARTICLE = """<!doctype html><html lang="en-GB"><head><title>
 The  chemistry of water </title><link rel="canonical" href="/dir/page?x=1">
<meta name=robots content="NoFollow"><style>p { color: red }</style></head><body>
<nav><ul><li><a href="/">Home</a><li><a href=other.html>Other</a></ul></nav>
<p>Water is H<sub>2</sub>O, as <a href="http://b.test/chem?b=2&amp;a=1">basic
chemistry</a> teaches; <a rel="nofollow ugc" href="//c.test/">spam</a> and
<a href="mailto:x@y.test">mail</a> do not.</p>
<script>var a = "<a href=/js>x</a>"</script>
<noscript><a href=/noscript>turn it on</a></noscript>
<table><tr><td>cell</td><td><a href="../up">up</a></td></tr></table>
<a href=/picture><img src=p.png alt="a  picture"></a><a href=#top>top</a>
<map><area href=/area alt="an area"></map><iframe src="/frame">old browsers</iframe>
<select><option>Afghanistan<option>Albania</select>
<pre>code <a href=/pre>in pre</a></pre><template><a href=/tpl>t</a></template>
</body></html>"""

OLD = """<html><head><title>Welcome</title><meta http-equiv=refresh content="9;url=/n">
</head><body bgcolor=white><center><font size=5>Department of<br>Chemistry</font><hr>
<table width=100%><tr><td class=menu><a href=a.htm>A</a><br><a href=b.htm>B</a><td>
Water<p>and <b>more<h2>Courses</h2><table><tr><th>Code<td><a href=c.htm>C<img src=x>
<tr><td colspan=2>Text<p>text</table><ul><li><a href=1>one<li><a href=2>two<li><a
href=3>three<li><a href=4>four</ul></table><address>root@a.test</address></center>"""

MODERN = """<!doctype html><html lang=de><head><title>Wasser</title><base href=/de/>
<link rel=alternate hreflang=en href=/en/><link rel=alternate hreflang=fr href=/fr/>
</head><body class=has-sidebar><header><div class=top-nav role=navigation><ul><li><a
href=.>Start</a><li><a href=x>X</a></ul></div></header><main><article><h1>Wasser</h1>
<section><h2>Eins</h2><a href=card><h3>Karte</h3><p>Text</p></a><figure><img src=i>
<figcaption>Bild</figcaption></figure></section><aside class=ad><a href=//ads.test/>Kauf
</a></aside><section><h2>Zwei</h2><details><summary>s</summary>x</details><form><label>l
<input></label><button>ok</button></form></section></article></main><footer><nav><a
href=imprint>Impressum</a></nav>&copy; 2026</footer><script>{"a": "</div>"}</script>"""

SAMPLES = [
    ARTICLE,
    OLD,
    MODERN,
    "<p>एक <a href='/क'>लिंक</a> यहाँ" * 20,
    "<frameset><frame src=/f><noframes><a href=/n>n</a></noframes></frameset>",
    "<table><a href=/t>t<tr><b><td>x</b><a href=/u><p>y</a></table><svg><a href=/s>",
    "<title>x</title><body><form><a href=a><div><a href=b><li></a></div></form>&amp;",
]

PIECES = [
    *("<", ">", "</", "<a href=", "\0", "\x01", "\0003\0", "\0h0\0", "&#0;", "<!--"),
    *('"', "'", "<table>", "</a>", "<template>", "<svg>", "<math>", "\ufeff", "é"),
    *("<base href=", "<plaintext>", "<select>", "</body>", "\U0010ffff", "<![CDATA["),
    *("<iframe src=", "<h1>", "</h2>", "<h6", "<nav>", "</nav>", "<footer", "<ul>"),
    *("<li>", "</ul>", "<td>", "</table>", "<div class=ad>", "<caption>", "<dl><dd>"),
    *("<form>", "<title>", "<style>", "<frameset>", "<body lang=", "&#xd800;"),
]


def damage(rng: random.Random) -> bytes:
    """A page that was cut, repeated, spliced, nested and had bytes changed."""
    body = bytearray(rng.choice(SAMPLES).encode())
    for _ in range(rng.randint(1, 20)):
        place = rng.randrange(len(body))
        match rng.randrange(7):
            case 0:
                body[place] = rng.randrange(256)
            case 1:
                body[place:place] = rng.choice(PIECES).encode()
            case 2:
                del body[place : place + rng.randint(1, 30)]
                body += b" "
            case 3:
                body[place:place] = body[place : place + rng.randint(1, 200)]
            case 4:
                body[place:place] = rng.choice(PIECES).encode() * rng.randint(2, 50)
            case 5:
                other = rng.choice(SAMPLES).encode()
                body[place:] = other[rng.randrange(len(other)) :] or b" "
            case 6:
                del body[place + 1 :]
    return bytes(body)
