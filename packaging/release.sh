#!/usr/bin/env bash
# release.sh [--once] [VERSION]: builds the release of the checked-out commit in dist/: static programs for
# amd64 and arm64, archives, packages, an SBOM and checksums. VERSION defaults to the commit's tag.
# Two runs give the same bytes. All programs are built twice, in other folders and without a cache, and
# compared; --once leaves that out. Needs bash, git, Go, GNU tar and gzip.
set -euo pipefail
cd "$(dirname "$0")/.."
once=
if [ "${1:-}" = --once ]; then
	once=yes
	shift
fi
version=${1:-}
if [ -z "$version" ]; then
	version=$(git describe --tags --exact-match --match 'v*')
	version=${version#v}
	if ! grep -qx "var version = \"$version\"" main.go || ! grep -qx "## $version" CHANGELOG.md; then
		echo "release.sh: main.go and CHANGELOG.md must name version $version" >&2
		exit 1
	fi
fi
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-trimpath TZ=UTC LC_ALL=C
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umask 022
# shellcheck source=packaging/HOSTS
. packaging/HOSTS
[ -z "$(git status --porcelain)" ] || echo 'release.sh: changes that are not committed are left out' >&2

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
GOBIN=$work/bin go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
GOBIN=$work/bin go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

# checkout DIR puts the commit into DIR, tagged with the version, for the SBOM.
checkout() {
	git -c advice.detachedHead=false clone -q --depth 1 "file://$PWD" "$1"
	git -C "$1" tag -f "v$version" >/dev/null
}

# build DIR builds all programs from the checkout in DIR, as DIR.bin/NAME_ARCH.
build() {
	local arch name
	for arch in amd64 arm64; do
		for name in tandem tandem-hub; do
			(cd "$1" && GOARCH=$arch go build -buildvcs=false -tags "$(tags_of $name)" -o "$1.bin/${name}_$arch" \
				-ldflags "-s -w -buildid= -X main.version=$version -X main.commit=$commit -X main.date=$date" .)
		done
	done
}
tags_of() { if [ "$1" = tandem-hub ]; then echo hub; fi; }

checkout "$work/tree"
build "$work/tree"
if [ -z "$once" ]; then
	checkout "$work/elsewhere/again"
	GOCACHE=$work/cache build "$work/elsewhere/again"
	diff -r "$work/tree.bin" "$work/elsewhere/again.bin"
	rm -rf "$work/cache" "$work/elsewhere"
fi

# licences NAME ARCH prints the licence of everything in the program that is not Tandem's own.
licences() {
	local module dir file
	section() { printf '\n==== %s ====\n\n' "$1"; }
	echo "Parts of $1 are other projects' work, under these licences."
	section "The Go standard library" && cat "$(go env GOROOT)/LICENSE"
	section "JetBrains Mono" && cat engine/screen/picture/font/OFL.txt
	for file in engine/page/files/vendor/LICENSE.*; do
		section "xterm.js: ${file##*LICENSE.}" && cat "$file"
	done
	GOARCH=$2 go list -deps -tags "$(tags_of "$1")" -f '{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}{{end}}' . |
		sort -u | while read -r module dir; do
		section "$module"
		find "$dir" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' \) | sort | grep . | xargs -d '\n' cat
	done
}

# pack FOLDER writes FOLDER.tar.gz beside it.
pack() {
	tar -C "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
		-cf - "$(basename "$1")" | gzip -9n >"$1.tar.gz"
}

# fill TEMPLATE puts the release's values into a template.
fill() {
	sed -e "s|@VERSION@|$version|g" -e "s|@SOURCE@|$SOURCE|g" -e "s|@RELEASES@|$RELEASES|g" -e "s|@INSTALL@|$INSTALL|g" \
		-e "s|@AMD64@|$(sum_of amd64)|g" -e "s|@ARM64@|$(sum_of arm64)|g" "$1"
}
sum_of() { sha256sum "dist/tandem_${version}_linux_$1.tar.gz" | cut -d ' ' -f 1; }

rm -rf dist
mkdir dist
# tandem runs the built program, with nothing of the user's.
tandem() { HOME=$work/home TANDEM_DATA_DIR=$work/home/data "$work/tree.bin/tandem_$(go env GOHOSTARCH)" "$@"; }
for arch in amd64 arm64; do
	for name in tandem tandem-hub; do
		archive=${name}_${version}_linux_$arch
		folder=$work/$arch/$archive
		mkdir -p "$folder"
		cp "$work/tree.bin/${name}_$arch" "$folder/$name"
		cp "$work/tree/LICENSE" "$work/tree/README.md" "$work/tree/CHANGELOG.md" "$folder"
		(cd "$work/tree" && licences $name $arch) >"$folder/THIRD-PARTY.txt"
		if [ $name = tandem ]; then
			mkdir "$folder/completions"
			tandem completion bash >"$folder/completions/tandem"
			tandem completion zsh >"$folder/completions/_tandem"
			tandem completion fish >"$folder/completions/tandem.fish"
			tandem man --dir "$folder/man"
		fi
		pack "$folder"
		mv "$folder.tar.gz" dist
		(cd "$work/tree" && GOOS=linux GOARCH=$arch GOFLAGS="$GOFLAGS -tags=$(tags_of $name)" "$work/bin/cyclonedx-gomod" app \
			-json -std -licenses -noserial -notimestamp -output - .) >"dist/$archive.cdx.json" 2>"$work/sbom.log" || {
			cat "$work/sbom.log" >&2
			exit 1
		}
	done
	gzip -9n "$work/$arch/tandem_${version}_linux_$arch/man/"*
	for format in deb rpm apk archlinux; do
		(cd "$work/$arch/tandem_${version}_linux_$arch" && ARCH=$arch VERSION=$version SOURCE=$SOURCE MAINTAINER=$MAINTAINER \
			"$work/bin/nfpm" package --config "$work/tree/packaging/nfpm.yaml" --packager $format --target "$OLDPWD/dist") >/dev/null
	done
done
fill "$work/tree/packaging/install.sh" >dist/install.sh
fill "$work/tree/packaging/tandem.rb" >dist/tandem.rb
fill "$work/tree/packaging/flake.nix" >dist/flake.nix
# The notes are the version's section of CHANGELOG.md.
awk -v title="## $version" '/^## / { on = $0 == title; next } on' "$work/tree/CHANGELOG.md" >dist/NOTES.md
packaging/readme.sh README.md
(cd dist && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
(cd dist && ls -sh1)
