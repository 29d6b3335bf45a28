#!/usr/bin/env python3
"""The files of deploy/kubernetes/ are valid by the schemas that Kubernetes and its operators publish.

    manifests_test.py SOURCE_DIRECTORY        needs PyYAML, which the Python of tests has

scripts/make_manifest_schemas.py has taken from the schemas what these files meet. What they say in their language of
rules (x-kubernetes-validations) is not checked. problems() is written by hand, since jsonschema, the library for it,
knows no such schemas with fields left out, and is in no environment of the tests.
"""
import copy
import json
import pathlib
import re
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from python_of_tests import restart_where

SOURCE = pathlib.Path(sys.argv[1]).resolve()
SCHEMAS = json.loads((SOURCE / "tests/scripts/manifest_schemas.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def is_a(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def limits_broken(schema, value):
    """The rules of one value, as words."""
    size = len(value) if isinstance(value, (str, list)) else None
    at_least, at_most = ("minLength", "maxLength") if isinstance(value, str) else ("minItems", "maxItems")
    if "enum" in schema and value not in schema["enum"]:
        yield f"is none of {schema['enum']}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"does not match {schema['pattern']}"
    if is_a(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield "is out of range"
    if size is not None and not schema.get(at_least, size) <= size <= schema.get(at_most, size):
        yield "is too short or too long"


def problems(schema, value, path):
    """What of a value the schema forbids, a line each with its place."""
    if schema is None:
        yield f"{path}: its schema is not there; scripts/make_manifest_schemas.py takes it from the published ones"
    elif not any(is_a(value, name) for name in schema["type"]):
        yield f"{path}: is no {' or '.join(schema['type'])}"
    else:
        yield from (f"{path}: {rule}" for rule in limits_broken(schema, value))
        yield from (f"{path}.{name}: is missing" for name in schema.get("required", []) if name not in value)
        for name, below in value.items() if isinstance(value, dict) else ():
            if "map" in schema:
                yield from problems(schema["map"], below, f"{path}.{name}")
            elif name in schema.get("properties", {}):
                yield from problems(schema["properties"][name], below, f"{path}.{name}")
            else:
                yield f"{path}.{name}: there is no such field"
        for place, below in enumerate(value) if isinstance(value, list) else ():
            yield from problems(schema["items"], below, f"{path}[{place}]")


def problems_of(document):
    kind = f"{document['apiVersion']} {document['kind']}"
    return list(problems(SCHEMAS[kind]["schema"], document, document["kind"]))


def places_of(value, schema, way=()):
    """The way to every value below, and whether the name that leads there is one of a schema's fields."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in parts:
        yield (*way, name), "properties" in schema
        inner = schema["properties"][name] if "properties" in schema else schema.get("map") or schema.get("items")
        yield from places_of(below, inner, (*way, name))


def parent_of(document, way):
    for name in way[:-1]:
        document = document[name]
    return document


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        files = sorted((SOURCE / "deploy/kubernetes").glob("*.yaml"))
        cls.documents = [document for file in files for document in yaml.safe_load_all(file.read_text())]

    def places(self):
        for document in self.documents:
            schema = SCHEMAS[f"{document['apiVersion']} {document['kind']}"]["schema"]
            for way, is_field in places_of(document, schema):
                if way[0] not in ("apiVersion", "kind"):
                    yield copy.deepcopy(document), way, is_field

    def test_they_are_valid(self):
        kinds = [document["kind"] for document in self.documents]
        self.assertEqual(sorted(kinds), ["Deployment", "MPIJob", "Service", "TrainJob", "TrainingRuntime"])
        for document in self.documents:
            self.assertEqual(problems_of(document), [])

    def test_the_page_names_the_versions(self):
        page = " ".join((SOURCE / "docs/DEPLOYMENT.md").read_text().split())
        for published in {kind["published_by"] for kind in SCHEMAS.values()}:
            self.assertIn(published, page)

    def test_a_field_of_another_name_is_a_problem(self):
        count = 0
        for document, way, is_field in self.places():
            if is_field:
                parent, count = parent_of(document, way), count + 1
                parent[f"{way[-1]}x"] = parent.pop(way[-1])
                self.assertTrue(any("no such field" in problem for problem in problems_of(document)), way)
        self.assertGreater(count, 100)

    def test_a_value_of_another_type_is_a_problem(self):
        for document, way, _ in self.places():
            parent = parent_of(document, way)
            parent[way[-1]] = {"another": 1} if isinstance(parent[way[-1]], list) else []
            self.assertNotEqual(problems_of(document), [], way)

    def test_a_number_is_no_text_nor_a_word_another(self):
        """What each breaks; the first is the slip of YAML that is made most."""
        for kind, way, value, rule in (
                ("Deployment", ("spec", "template", "metadata", "annotations", "prometheus.io/port"), 8080, "string"),
                ("Deployment", ("spec", "replicas"), "2", "integer"),
                ("Service", ("spec", "ports", 0, "targetPort"), True, "integer or string"),
                ("MPIJob", ("spec", "slotsPerWorker"), "4", "integer"),
                ("TrainingRuntime", ("spec", "mlPolicy", "mpi", "mpiImplementation"), "openmpi", "is none of")):
            [document] = [copy.deepcopy(found) for found in self.documents if found["kind"] == kind]
            parent_of(document, way)[way[-1]] = value
            [problem] = problems_of(document)
            self.assertIn(rule, problem)

    def test_what_a_kind_needs_is_missed(self):
        for kind, way in (("Deployment", ("spec", "selector")), ("MPIJob", ("spec", "mpiReplicaSpecs")),
                          ("Deployment", ("spec", "template", "spec", "containers", 0, "name")),
                          ("TrainJob", ("spec", "runtimeRef", "name"))):
            [document] = [copy.deepcopy(found) for found in self.documents if found["kind"] == kind]
            del parent_of(document, way)[way[-1]]
            self.assertEqual(problems_of(document), [".".join([kind, *map(str, way)]).replace(".0.", "[0].") +
                                                     ": is missing"])

    def test_a_field_that_no_file_had_asks_for_its_schema(self):
        [document] = [copy.deepcopy(found) for found in self.documents if found["kind"] == "Deployment"]
        document["spec"]["paused"] = True
        [problem] = problems_of(document)
        self.assertIn("make_manifest_schemas.py", problem)


if __name__ == "__main__":
    restart_where("yaml")
    import yaml
    unittest.main(argv=sys.argv[:1], verbosity=2)
