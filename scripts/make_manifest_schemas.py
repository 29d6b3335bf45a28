#!/usr/bin/env python3
"""Writes tests/scripts/manifest_schemas.json: of the published schemas what the files of deploy/kubernetes/ meet.

    make_manifest_schemas.py KUBERNETES=FOLDER PROJECT_VERSION=CRD.yaml...

    KUBERNETES    name and version, as in "Kubernetes 1.37=k8s": a folder with _definitions.json, service-v1.json and
                  deployment-apps-v1.json, which the PyPI package kubernetes-validate has for each version
    the others    "MPI operator 0.8.0=mpijobs.yaml": the definition of a resource from its project's repository

needs PyYAML. An object is kept with the names of all its fields and those that it must have, and the types, words,
patterns and limits of the fields in use; fields that no file uses are null. A file that uses one of those needs this
script again, which tests/scripts/manifests_test.py says.
"""
import json
import pathlib
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "scripts" / "manifest_schemas.json"
META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
LIMITS = ("enum", "pattern", "minimum", "maximum", "minLength", "minItems", "maxItems")


class Reducer:
    def __init__(self, definitions):
        self.definitions = definitions

    def resolved(self, schema, name):
        """Without a reference; what a CRD says of metadata, which is nothing, is what Kubernetes itself checks."""
        if name == "metadata" and not schema.get("properties") and "$ref" not in schema:
            return self.definitions[META]
        while "$ref" in schema:
            schema = self.definitions[schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def reduced(self, schema, values, name=""):
        """What of a schema these values meet."""
        schema = self.resolved(schema, name)
        kept = {"type": types_of(schema)} | {key: schema[key] for key in LIMITS if key in schema}
        if "properties" in schema:
            kept["properties"] = {
                key: self.reduced(below, met, key) if (met := [v[key] for v in values if key in v]) else None
                for key, below in sorted(schema["properties"].items())}
            kept["required"] = schema.get("required", [])
        elif "additionalProperties" in schema:
            kept["map"] = self.reduced(schema["additionalProperties"], [w for v in values for w in v.values()])
        elif "items" in schema:
            kept["items"] = self.reduced(schema["items"], [w for v in values for w in v])
        return kept


def types_of(schema):
    """Names of JSON's types, without null: an absent field is left out."""
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return ["integer", "string"]
    if "oneOf" in schema:
        return sorted({name for part in schema["oneOf"] for name in types_of(part)})
    found = schema.get("type", "object")
    return sorted(name for name in ([found] if isinstance(found, str) else found) if name != "null")


def main(arguments):
    (kubernetes, folder), *projects = (word.split("=", 1) for word in arguments)
    read = {path.name: json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.json")}
    definitions = read["_definitions.json"]
    published = {"apps/v1 Deployment": (kubernetes, read["deployment-apps-v1.json"]),
                 "v1 Service": (kubernetes, read["service-v1.json"])}
    for project, path in projects:
        spec = yaml.safe_load(pathlib.Path(path).read_text())["spec"]
        for version in spec["versions"]:
            kind = f"{spec['group']}/{version['name']} {spec['names']['kind']}"
            published[kind] = project, version["schema"]["openAPIV3Schema"]
    documents = [document for path in sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))
                 for document in yaml.safe_load_all(path.read_text())]
    reducer, kinds = Reducer(definitions.get("$defs", definitions)), {}
    for kind in sorted({f"{document['apiVersion']} {document['kind']}" for document in documents}):
        project, schema = published[kind]
        of_kind = [document for document in documents if f"{document['apiVersion']} {document['kind']}" == kind]
        kinds[kind] = {"published_by": project, "schema": reducer.reduced(schema, of_kind)}
    rows = (f"{json.dumps(kind)}: {json.dumps(what, separators=(',', ':'))}" for kind, what in kinds.items())
    OUT.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) < 2 or not all("=" in word for word in sys.argv[1:]):
        sys.exit(__doc__)
    main(sys.argv[1:])
