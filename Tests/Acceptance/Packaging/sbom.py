"""sbom.py BILL PROGRAM [SOURCES]: see sbom.sh."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from spdx_tools.spdx.model import RelationshipType
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

# How a version is spelled in the program; that of libcurl, without its name, because of how the compiler copies that.
SPELLED = {"openssl": "OpenSSL {} ", "curl": "\0{}\0", "expat": "expat_{}\0"}


def expect(condition, text):
    if not condition:
        sys.exit(f"sbom: {text}")


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def checksums(element):
    return {checksum.value for checksum in element.checksums}


def main(bill, program, sources=None):
    document = parse_file(str(bill))
    for message in validate_full_spdx_document(document):
        sys.exit(f"sbom: {bill}: {message.validation_message} ({message.context.spdx_id})")
    packages = {package.name: package for package in document.packages}
    ids = {element.spdx_id: element.name for element in [*document.packages, *document.files]}

    def related(how):
        return {ids[relation.related_spdx_element_id] for relation in document.relationships if relation.relationship_type == how}

    own = packages["s3up"]
    expect(related(RelationshipType.DESCRIBES) == {"s3up"}, "it does not describe s3up")
    expect(own.version == run(program, "--version").split()[1], f"the program is not {own.version}")
    expect(checksums(own) == {sha256(program)}, "the program has another checksum")

    shared = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", program)))
    expect(related(RelationshipType.DYNAMIC_LINK) == shared, f"the program needs these shared libraries: {shared}")
    static = related(RelationshipType.STATIC_LINK)
    expect(static == {file.name for file in document.files}, "a file is not linked")
    expect("./libswiftCore.a" in static, "it has no Swift runtime")

    built = related(RelationshipType.GENERATED_FROM)
    toolchain = re.search(r"Swift version (\S+)", run("swift", "--version"))[1]
    expect(packages["swift"].version == toolchain, f"Swift is not {toolchain}")
    content = program.read_bytes().decode("latin-1")
    for name, spelled in SPELLED.items():
        # The version without Debian's epoch and revision.
        version = name in built and re.sub(r"^\d+:|-[^-]*$", "", packages[name].version)
        expect(bool(sources) == bool(version), f"{name} is{'' if version else ' not'} in the program")
        expect(not version or spelled.format(version) in content, f"{name} {version} is not in the program")
    for source in sorted(sources.glob("*/*") if sources else []):
        package = packages[source.parent.name]
        known = checksums(package) if source.suffix == ".dsc" else re.findall(r"[0-9a-f]{64}", package.source_info)
        expect(sha256(source) in known, f"another {source.name} went in")
    expect(not built - {"swift"} or all(packages[name].version for name in built), "a library has no version")
    unknown = [name for name in built if str(packages[name].license_declared) in ("NOASSERTION", "NONE")]
    expect(not unknown, f"the licence of these is not known: {unknown}")
    print(f"sbom: valid; {program.name} {own.version} has {', '.join(sorted(f'{name} {packages[name].version}' for name in built))}")


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
