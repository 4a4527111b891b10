"""A small web about bees for tests of the Python API."""

from opilio.lab.synthetic.small import SmallWeb, page

BEES = "The honey bee makes honey in the hive. " * 20
SHIPS = "The ship sails the sea. " * 20


def bee_web(origin: str = "http://seed.test", pages: int = 30) -> SmallWeb:
    """A homepage with links to pages about bees, and to one about ships."""
    links = {f"/{n}": f"honey bee {n}" for n in range(pages)} | {"/ships": "ships"}
    web = {
        f"{origin}/{n}": page(f"Bees {n}", f"{BEES} {f'number{n} ' * 60}")
        for n in range(pages)
    }
    web[f"{origin}/"] = page("Bees", BEES, links)
    web[f"{origin}/ships"] = page("Ships", SHIPS)
    return SmallWeb(web)
