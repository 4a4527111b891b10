"""A small HTTP client for tests of the server."""

import http.client
import json
from dataclasses import dataclass
from urllib.parse import urlencode

from opilio.serve.login import Doorkeeper


@dataclass
class Answer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    text: str

    def json(self):
        return json.loads(self.text)


class Client:
    """Talks to a server as a program does, or as a browser that is logged in."""

    def __init__(self, port: int, keeper: Doorkeeper) -> None:
        self.port = port
        self.keeper = keeper
        self.origin = f"http://127.0.0.1:{port}"

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers):
        """Send a request; `host` and other headers may be given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, text)
        finally:
            connection.close()

    def get(self, path: str, **headers) -> Answer:
        """Read something with the token."""
        return self.ask(path, authorization=f"Bearer {self.keeper.token}", **headers)

    def api(self, path: str):
        """Read something from the API."""
        answer = self.get(f"/api/v1/{path}")
        assert answer.status == 200, answer.text
        return answer.json()

    def post(self, path: str, value: object, **headers) -> Answer:
        """Change something by the API."""
        return self.ask(
            f"/api/v1/{path}",
            "POST",
            json.dumps(value).encode(),
            authorization=f"Bearer {self.keeper.token}",
            **headers,
        )

    def session(self) -> tuple[str, str]:
        """Log in as a browser does; the cookie, and the token of its forms."""
        cookie = self.keeper.enter(self.keeper.token)
        return f"opilio_{self.port}={cookie}", self.keeper.form_token(cookie)

    def send_form(self, path: str, cookie: str, fields: dict, **headers) -> Answer:
        """Send a form as a browser does."""
        return self.ask(
            path,
            "POST",
            urlencode(fields, doseq=True).encode(),
            cookie=cookie,
            content_type="application/x-www-form-urlencoded",
            **headers,
        )
