"""Words of twelve subjects, and of everyday life, for pages in plain English.

Each subject has things (countable), stuff (not countable), people, places, tasks (after
"to"), traits (of a thing) and moments. The keywords of a subject's topic file come
first.
"""

from __future__ import annotations

SUBJECTS: dict[str, dict[str, str]] = {
    "beekeeping": {
        "thing": "hive, bee, queen bee, swarm, honeycomb, colony, smoker, brood "
        "frame, worker bee, drone, bee suit, hive tool, feeder, super, "
        "queen cell",
        "stuff": "honey, nectar, pollen, beeswax, propolis, royal jelly, sugar syrup",
        "person": "beekeeper, queen breeder, bee inspector, honey farmer, beginner",
        "place": "apiary, bee yard, honey house, heather moor, clover field",
        "task": "open the hive, catch a swarm, extract the honey, feed the colony, "
        "mark the queen bee, check the brood, light the smoker, render the "
        "beeswax",
        "trait": "strong, gentle, crowded, queenless, well fed, healthy, restless",
        "moment": "in early spring, after the lime trees flower, on a warm evening, "
        "before the first frost, during the nectar flow",
    },
    "volcano": {
        "thing": "volcano, eruption, crater, caldera, lava flow, ash cloud, vent, "
        "tremor, geyser, cinder cone, lava dome, fissure, hot spring, gas "
        "plume",
        "stuff": "lava, magma, basalt, pumice, volcanic ash, sulphur, obsidian, steam",
        "person": "volcanologist, geologist, mountain guide, park ranger, villager",
        "place": "observatory, crater rim, lava field, black beach, island arc",
        "task": "measure the tremors, sample the lava, map the crater, watch the "
        "vent, leave the valley, date the basalt, record an eruption, warn "
        "the villages",
        "trait": "active, dormant, extinct, steep, restless, explosive, snow-covered",
        "moment": "hours before an eruption, once the magma rises, after the ash "
        "falls, in the last century, when the ground begins to swell",
    },
    "railway": {
        "thing": "train, locomotive, railway station, carriage, junction, timetable, "
        "platform, viaduct, signal box, goods wagon, level crossing, "
        "tunnel, siding",
        "stuff": "freight, steam, coal, track ballast, rolling stock, diesel fuel",
        "person": "signalman, engine driver, conductor, station master, passenger",
        "place": "railway museum, engine shed, marshalling yard, branch line, terminus",
        "task": "couple the carriages, read the timetable, change trains, fire the "
        "locomotive, repair the track, set the signals, cross the viaduct",
        "trait": "narrow-gauge, punctual, electric, disused, single-track, "
        "double-headed",
        "moment": "on the first morning train, when the line was opened, at the "
        "summer timetable change, after the last train, in the age of steam",
    },
    "chess": {
        "thing": "pawn, bishop, rook, knight, chessboard, gambit, endgame, "
        "checkmate, stalemate, opening move, chess clock, sacrifice, pin, "
        "passed pawn, tournament",
        "stuff": "chess, castling, opening theory, time trouble, material, tempo",
        "person": "grandmaster, chess player, arbiter, club champion, opponent",
        "place": "chess club, tournament hall, analysis room, school library, cafe",
        "task": "castle early, trade the bishop, defend the pawn, force a "
        "stalemate, study the endgame, decline the gambit, open the file, "
        "give checkmate",
        "trait": "sharp, solid, drawn, doubtful, forgotten, double-edged, winning",
        "moment": "in the middle game, with both clocks running, before castling, in "
        "the final round, two moves before checkmate",
    },
    "pottery": {
        "thing": "kiln, vase, potter wheel, bowl, glaze recipe, teapot, kiln shelf, "
        "clay body, test tile, pouring spout, handle, foot ring, storage "
        "jar",
        "stuff": "clay, glaze, porcelain, earthenware, stoneware, terracotta, slip",
        "person": "potter, ceramic artist, apprentice, kiln builder, collector",
        "place": "pottery studio, clay pit, village workshop, craft fair, museum",
        "task": "wedge the clay, throw a bowl, load the kiln, mix the glaze, trim "
        "the foot, fire the kiln, centre the clay, attach a handle",
        "trait": "hand-built, unglazed, thin-walled, cracked, wood-fired, salt-glazed",
        "moment": "while the clay is still soft, after the first firing, on the "
        "wheel, when the kiln has cooled, before the glaze dries",
    },
    "astronomy": {
        "thing": "planet, galaxy, telescope, comet, nebula, orbit, asteroid, "
        "eclipse, constellation, supernova, star cluster, eyepiece, moon, "
        "meteor shower",
        "stuff": "astronomy, starlight, dark matter, cosmic dust, light pollution",
        "person": "astronomer, stargazer, observer, comet hunter, physicist",
        "place": "observatory, planetarium, dark-sky park, mountain top, back garden",
        "task": "find the constellation, track a comet, align the telescope, "
        "measure the orbit, photograph the nebula, time the eclipse, name "
        "an asteroid",
        "trait": "distant, bright, spiral, faint, newly discovered, red, variable",
        "moment": "on a moonless night, shortly before dawn, during the eclipse, once "
        "in a lifetime, when the planet is closest to the sun",
    },
    "baking": {
        "thing": "loaf, oven, pastry, bread tin, baking stone, sourdough starter, "
        "crust, rolling pin, dough scraper, proving basket, croissant, bun, "
        "cake",
        "stuff": "bread, flour, yeast, dough, sourdough, rye, butter, salt",
        "person": "baker, pastry chef, miller, home baker, apprentice",
        "place": "bakery, kitchen, flour mill, market stall, village oven",
        "task": "knead the dough, feed the starter, bake the bread, shape a loaf, "
        "sift the flour, heat the oven, fold in the butter, slash the crust",
        "trait": "crisp, golden, flaky, wholemeal, overproved, stale, fragrant",
        "moment": "while the oven heats, after the first rise, at four in the "
        "morning, once the dough has doubled, before the loaf cools",
    },
    "sailing": {
        "thing": "mast, rudder, anchor, yacht, schooner, spinnaker, keel, regatta, "
        "harbour wall, lighthouse, mainsail, jib, dinghy, tiller, mooring",
        "stuff": "sailing, rigging, rope, sailcloth, ballast, sea room, drift",
        "person": "sailor, skipper, helmsman, lighthouse keeper, sailmaker",
        "place": "harbour, marina, boatyard, sailing club, sheltered bay",
        "task": "hoist the mainsail, drop the anchor, trim the jib, reef the sail, "
        "steer by the lighthouse, step the mast, leave the harbour, round "
        "the buoy",
        "trait": "seaworthy, wooden, fast, two-masted, leaky, well-trimmed, heavy",
        "moment": "at high tide, in a rising wind, on the last leg of the regatta, "
        "before the fog comes in, on a broad reach",
    },
    "gardening": {
        "thing": "garden, seedling, greenhouse, shrub, rose, vegetable bed, compost "
        "heap, fruit tree, hedge, watering can, cold frame, lawn, flower "
        "pot",
        "stuff": "gardening, compost, mulch, topsoil, pruning, manure, rainwater",
        "person": "gardener, nurseryman, plant breeder, neighbour, allotment holder",
        "place": "orchard, allotment, kitchen garden, nursery, walled garden",
        "task": "prune the rose, turn the compost, sow the seeds, water the "
        "seedlings, spread the mulch, graft a tree, dig the bed, divide the "
        "shrub",
        "trait": "hardy, shady, evergreen, overgrown, frost-tender, fragrant, climbing",
        "moment": "in late winter, after the last frost, on a cloudy day, before the "
        "buds open, once the soil is warm",
    },
    "birds": {
        "thing": "nest, feather, sparrow, falcon, heron, owl, bird box, flock, "
        "chick, egg, beak, bird table, ringing station, field guide, "
        "wingspan",
        "stuff": "birdsong, plumage, migration, down, birdseed, preening",
        "person": "birdwatcher, ornithologist, falconer, bird ringer, warden",
        "place": "bird reserve, reed bed, estuary, woodland edge, hide",
        "task": "build the nest, feed the chicks, follow the migration, hear the "
        "owl, count the herons, ring the birds, moult a feather, hatch an "
        "egg",
        "trait": "migratory, shy, long-legged, nocturnal, colourful, ground-nesting",
        "moment": "at dawn, during the autumn migration, in the breeding season, "
        "while the chicks are small, after a night of rain",
    },
    "cycling": {
        "thing": "bicycle, pedal, handlebar, saddle, spoke, tyre, derailleur, bike "
        "lane, velodrome, chain, brake lever, inner tube, helmet, gear, "
        "peloton",
        "stuff": "cycling, chain oil, cadence, luggage, rolling resistance",
        "person": "cyclist, mechanic, commuter, racing cyclist, frame builder",
        "place": "bike shop, mountain pass, cycle path, race track, workshop",
        "task": "mend a puncture, adjust the derailleur, true the wheel, climb the "
        "pass, change the tyre, oil the chain, raise the saddle, join the "
        "peloton",
        "trait": "light, folding, second-hand, steel-framed, well-oiled, comfortable",
        "moment": "on the way to work, in the last kilometre, after a long descent, "
        "with the wind behind you, before the first ride of spring",
    },
    "weaving": {
        "thing": "loom, shuttle, spindle, tapestry, warp thread, bobbin, heddle, "
        "shawl, spinning wheel, woven band, treadle, reed, floor rug",
        "stuff": "weaving, yarn, wool, linen, silk, cotton, plant dye",
        "person": "weaver, spinner, dyer, textile designer, shepherd",
        "place": "weaving mill, dye house, craft school, textile museum, wool market",
        "task": "warp the loom, throw the shuttle, spin the yarn, dye the wool, "
        "beat the weft, thread the heddles, finish the tapestry, wind a "
        "bobbin",
        "trait": "hand-woven, striped, fine, coarse, naturally dyed, tightly spun",
        "moment": "once the warp is tight, before the wool is washed, on a winter "
        "evening, row by row, when the pattern repeats",
    },
    "": {
        "thing": "house, road, school, letter, window, table, meeting, picture, "
        "door, bus, list, programme, newspaper, office, question",
        "stuff": "work, time, news, paper, advice, money, weather, help",
        "person": "neighbour, teacher, visitor, friend, reader, shopkeeper",
        "place": "village, town hall, market square, library, park",
        "task": "answer the letter, ask a neighbour, close the window, wait for the "
        "bus, read the newspaper, plan the meeting, sign the list, take a "
        "picture",
        "trait": "small, old, quiet, ordinary, new, useful, long",
        "moment": "on most days, in the afternoon, every other week, at the weekend, "
        "sooner or later",
    },
}
"""Subject -> kind of words -> words, with commas between them; "" is everyday life."""

SENTENCES = (
    "A {trait} {thing} is worth more than two that are not.",
    "Most people who want to {task} begin too late.",
    "The {person} looked at the {thing} and decided to wait.",
    "{moment}, it is best to {task}.",
    "Every {person} learns to {task} sooner or later.",
    "There is no {thing} without {stuff}.",
    "You need {stuff}, a {thing} and a little patience.",
    "At the {place} you can see how to {task}.",
    "A {thing} of this kind was found at the {place} last year.",
    "{stuff} alone does not make a {trait} {thing}.",
    "If the {thing} is {trait}, ask a {person} before you go on.",
    "Our {place} has a {trait} {thing} that visitors like to see.",
    "{moment}, the {place} is full of people.",
    "A {person} from the {place} showed us how to {task}.",
    "The {thing} should be {trait}, but that is not all that counts.",
    "Good {stuff} is hard to find, and it is rarely cheap.",
    "Nobody should {task} alone the first time.",
    "The first {thing} came to this {place} about a hundred years ago.",
    "It took the {person} a whole day to {task}.",
    "Keep the {thing} away from {stuff}.",
    "What makes a {thing} {trait}? Mostly {stuff}.",
    "We asked a {person} about {stuff} and got a long answer.",
    "Beginners often forget the {thing}.",
    "{moment}, a {thing} needs more {stuff} than usual.",
    "The {person} keeps a record of every {thing} at the {place}.",
    "Some prefer a {trait} {thing}; others do not mind.",
    "Before you {task}, check the {thing} once more.",
    "The {place} sells {stuff} and lends out a {thing} now and then.",
    "A {thing} is often the first thing that visitors ask about.",
    "Much has been written about {stuff}, and little about the {thing}.",
)

TITLES = (
    "How to {task}",
    "Choosing a {thing}",
    "{stuff} and the {thing}",
    "The {trait} {thing}",
    "Notes from a {person}: the {thing}",
    "A short history of the {thing}",
    "What a {person} should know about {stuff}",
    "Questions about the {thing}",
    "A year at the {place}: {stuff}",
    "From {stuff} to the {thing}",
)
