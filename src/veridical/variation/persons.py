"""Nouns for persons, with their gender, and the pronouns that may stand for them: tables for English (definition:
Veridical).

The tables are short, and what they lack is taken for no person: where a pronoun follows, a word too few is proposed
rather than one that the pronoun does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

Gender = Literal["male", "female", "either"]

_MALE = """
abbot actor baron bachelor boy bloke bridegroom brother butler caliph cardinal chap count cowboy czar dad daddy duke
emperor father fellow fisherman friar gentleman god godfather grandad grandfather grandpa grandson groom guy
headmaster heir hero host husband king knight lad landlord lord lumberjack male man master mister monk monsieur nephew
papa pope priest prince schoolboy schoolmaster sheikh sir son squire steward stepfather sultan tsar uncle usher waiter
widower wizard
"""
_FEMALE = """
abbess actress aunt ballerina baroness bride countess czarina dame daughter duchess empress female girl goddess
godmother grandma grandmother granny headmistress heiress heroine hostess housemaid housewife lady landlady lass
madam maid mama mermaid miss mistress mom mother mum mummy niece nun nanny princess queen schoolgirl seamstress
sister stepmother stewardess waitress widow wife witch woman
"""
_EITHER = """
accountant acrobat activist addict administrator admiral adult adventurer adviser agent alien ally amateur ambassador
analyst ancestor angler announcer apprentice archaeologist archer architect artist assassin assistant astronaut
astronomer athlete attendant attorney author baby babysitter backpacker baker banker barber bartender beggar beginner
believer biker biologist bishop blacksmith boarder bodyguard boss botanist boxer brewer broker builder burglar busker
buyer cadet camper candidate captain caretaker carpenter carrier cartoonist cashier caterer celebrity champion charmer
cheerleader chef chemist chief child citizen cleaner clerk client climber clockmaker clown coach collector colleague
colonel columnist comedian commander commuter companion composer conductor consultant contractor convict cook corporal
councillor counselor courier courtier cousin craftsman creator criminal critic customer cyclist dancer dealer defendant
dentist deputy descendant designer detective developer diplomat director diver doctor donor driver drummer drunk editor
elder electrician employee employer enemy engineer entrepreneur envoy executive expert explorer fan farmer farmhand
farrier fighter firefighter fitter follower foreigner founder friend fugitive gambler gangster gardener general
geologist ghost giant glassmaker glazier goalkeeper governor graduate guard guardian guest guide guitarist gunner
gymnast hacker hairdresser helper hermit historian hitchhiker homeowner honeymooner hostage housekeeper human hunter
immigrant infant informer inhabitant inmate innkeeper inspector instructor insurgent intern intruder invalid inventor
investigator investor islander jailer janitor jeweller jeweler jockey joiner journalist judge juggler juror kayaker
kid kidnapper killer laborer labourer landowner landscaper lawyer leader lecturer librarian lieutenant listener
lodger lover magician major manager mason mayor mechanic member merchant messenger midwife miller miner minister minor
missionary model mountaineer mover muleteer murderer muralist musician mutineer narrator neighbor neighbour novelist
nurse observer occupant officer official operator organiser organist organizer orphan outsider owner painter parent
partner passenger passerby patient patrol peasant pedestrian pensioner percussionist performer person philosopher
photographer physician pianist pilgrim pilot pioneer pirate plasterer player playwright plumber poacher poet
politician porter potholer potter practitioner preacher president principal printer prisoner producer professor
programmer prosecutor protester psychologist publisher pupil rambler ranger reader rebel receptionist recruit referee
refugee relative removalist repairer reporter representative researcher resident retiree rider rival robber roofer
runner sailmaker sailor scholar scientist scout sculptor secretary seller senator sergeant servant settler shepherd
sheriff shoemaker shooter shopkeeper shopper sibling singer skater skier slave smith smuggler soldier soloist
specialist spectator sponsor spouse spy squatter stagehand stowaway stranger student suitor superintendent supervisor
surfer surgeon surveyor survivor suspect swimmer swordsmith tailor teacher technician teen teenager teller tenant
therapist thief toddler tourist toymaker trader trainee trainer translator trapper traveler traveller treasurer tutor
twin tycoon tyrant veteran vicar victim viewer villager villain violinist visitor volcanologist volunteer walker
warden warrior weaver welder winner witness worker wrestler writer youngster youth zookeeper zoologist
"""
_NO_PERSONS = "caiman malady ottoman talisman roman"

_TABLE: dict[str, Gender] = {
    **dict.fromkeys(_EITHER.split(), "either"),
    **dict.fromkeys(_MALE.split(), "male"),
    **dict.fromkeys(_FEMALE.split(), "female"),
}
_ENDINGS: tuple[tuple[str, Gender], ...] = (
    ("woman", "female"),
    ("girl", "female"),
    ("mother", "female"),
    ("sister", "female"),
    ("daughter", "female"),
    ("lady", "female"),
    ("man", "male"),
    ("boy", "male"),
    ("father", "male"),
    ("brother", "male"),
    ("person", "either"),
    ("keeper", "either"),
    ("worker", "either"),
    ("ician", "either"),
    ("ologist", "either"),
)
"""Of compounds that no table lists (`nightwatchman`, `stepsister`, `beekeeper`); the first that fits."""
_IRREGULAR = {"men": "man", "women": "woman", "children": "child", "people": "person", "wives": "wife"}

_PRONOUNS: dict[str, Gender] = {
    **dict.fromkeys(("he", "him", "his", "himself"), "male"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "female"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themself", "themselves", "who", "whom", "whose"), "either"),
}
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=8192)
def gender_of(noun: str) -> Gender | None:
    """The gender of a noun for a person (lower case, singular or plural), None for a noun that is none for a person."""
    return next((gender for word in _singulars(noun) if (gender := _gender_of_singular(word))), None)


def _singulars(noun: str) -> Iterable[str]:
    yield noun
    for plural, singular in _IRREGULAR.items():
        if noun.endswith(plural):
            yield noun.removesuffix(plural) + singular
    if noun.endswith("ies"):
        yield f"{noun.removesuffix('ies')}y"
    if noun.endswith("ves"):
        yield f"{noun.removesuffix('ves')}f"
    for ending in ("es", "s"):
        if noun.endswith(ending):
            yield noun.removesuffix(ending)


def _gender_of_singular(word: str) -> Gender | None:
    if word in _TABLE:
        return _TABLE[word]
    if word in _NO_PERSONS.split():
        return None
    return next((gender for ending, gender in _ENDINGS if word.endswith(ending) and word != ending), None)


def pronouns(text: str) -> frozenset[Gender]:
    """The genders of the pronouns in a text that stand for persons."""
    return frozenset(_PRONOUNS[word] for word in _WORD.findall(text.lower()) if word in _PRONOUNS)


def fits(noun: str, replacement: str, texts: Iterable[str]) -> bool:
    """Whether a noun's replacement fits the pronouns in the texts that it stands in.

    Which pronoun stands for which noun is not known, so that any may be this noun's. A noun for a person is replaced
    by another where there is one; a man or a woman is brought in where no pronoun is of the other gender, unless the
    noun was of the same gender already.
    """
    found = frozenset().union(*map(pronouns, texts))
    old, new = gender_of(noun), gender_of(replacement)
    if old is not None and new is None:
        return not found
    if new in (None, "either") or old == new:
        return True
    return ("female" if new == "male" else "male") not in found
