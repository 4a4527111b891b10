"""Little ontologies that several tests use."""

from __future__ import annotations

from opilio.topic.ontology import Ontology, read_ontology

# Made by us after figure 1 of Yang: (a) a taxonomy of PC concepts by is-a, (b) CPU with
# its attributes (provider, synonym, ...) and, at the bottom, its instances.
PC = """
@prefix : <http://example.org/pc#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<http://example.org/pc> a owl:Ontology ; owl:imports <http://example.org/never> .

:Hardware a owl:Class ; rdfs:label "hardware"@en , "Hardware"@de .
:PersonalComputer a owl:Class ; rdfs:subClassOf :Hardware ;
    rdfs:label "personal computer"@en ; skos:altLabel "PC"@en .
:CPU a owl:Class ; rdfs:subClassOf :Hardware ;
    rdfs:label "CPU"@en , "Hauptprozessor"@de ;
    skos:altLabel "central processing unit"@en , "processor"@en , "Prozessor"@de ;
    skos:definition "The part that executes instructions."@en ;
    rdfs:comment "A comment is less than a definition."@en ;
    rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :partOf ;
                      owl:someValuesFrom :Motherboard ] ;
    owl:disjointWith :Memory .
:MultiCoreCPU a owl:Class ; rdfs:subClassOf :CPU ;
    rdfs:label "multi-core processor"@en .
:Motherboard a owl:Class ; rdfs:subClassOf :Hardware ;
    rdfs:label "motherboard"@en , "Hauptplatine"@de ; skos:altLabel "mainboard"@en ;
    rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :partOf ;
                      owl:someValuesFrom :PersonalComputer ] .
:Memory a owl:Class ; rdfs:subClassOf :Hardware ;
    rdfs:label "memory"@en , "Speicher"@de ; skos:altLabel "RAM"@en .
:Chipset a owl:Class ; rdfs:label "chipset"@en .

:partOf a owl:ObjectProperty .
:worksWith a owl:ObjectProperty ; rdfs:domain :CPU ; rdfs:range :Chipset .
:provider a owl:DatatypeProperty .
:socket a owl:DatatypeProperty ; rdfs:domain :CPU .
:clockSpeed a owl:DatatypeProperty ; rdfs:domain :CPU ; rdfs:range xsd:integer .

:PentiumIII a :CPU ; rdfs:label "Pentium III" ; :provider "Intel" ;
    :socket "Slot 1" ; :clockSpeed 500 .
:Athlon a :CPU ; :provider "AMD" ; :socket "Slot A" .
:P3BF a :Motherboard ; rdfs:label "P3B-F" ; :provider "Asus" ; :socket "Slot 1" .
:SDRAM a :Memory ; :provider "Kingston" .
"""

# Table 1 of Kumar & Vig as an ontology: what is sought, a kind and a part of it, what
# it is related to, what its part is about, and what all departments share.
ENGINEERING = """
@prefix : <http://example.org/departments#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
:cse a skos:Concept ; skos:prefLabel "Comp. Sc. And Engg."@en ;
    skos:broader :engg ; skos:related :it ; dcterms:hasPart :cs .
:ce a skos:Concept ; skos:prefLabel "Comp. Engg."@en ; skos:broader :cse .
:cs a skos:Concept ; skos:prefLabel "Comp. Sc."@en ; skos:related :comp .
:it a skos:Concept ; skos:prefLabel "Information Tech."@en .
:comp a skos:Concept ; skos:prefLabel "Computer"@en .
:engg a skos:Concept ; skos:prefLabel "Engineering"@en .
"""

OTHER_DEPARTMENT = """
@prefix : <http://example.org/{name}#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:it a skos:Concept ; skos:prefLabel "{name} Engg."@en ; skos:broader :engg .
:engg a skos:Concept ; skos:prefLabel "Engineering"@en .
"""

TABLE_1 = {
    "Comp. Sc. And Engg.": 1.0,
    "Comp. Engg.": 0.9,
    "Comp. Sc.": 0.8,
    "Information Tech.": 0.5,
    "Computer": 0.4,
    "Engineering": 0.3,
}


def turtle(text: str, name: str = "pc.ttl") -> Ontology:
    """An ontology written in Turtle."""
    return read_ontology(text.encode(), name)


def skos(lines: str, name: str = "made.ttl") -> Ontology:
    """An ontology of SKOS statements about `:a`, `:b`, ..."""
    prefixes = (
        "@prefix : <http://example.org/made#> .\n"
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    )
    return turtle(prefixes + lines, name)
