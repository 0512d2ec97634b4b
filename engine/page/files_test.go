package page

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image/png"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestVendoredFilesMatchPublishedOnes compares them with the manifest, which holds the hashes of
// the files in npm's packages.
func TestVendoredFilesMatchPublishedOnes(t *testing.T) {
	manifest, err := embedded.ReadFile("files/vendor/MANIFEST")
	if err != nil {
		t.Fatal(err)
	}
	listed := []string{"MANIFEST"}
	for lines := bufio.NewScanner(strings.NewReader(string(manifest))); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		want, name, _ := strings.Cut(lines.Text(), "  ")
		text, err := embedded.ReadFile("files/vendor/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not the one that was published", name)
		}
		listed = append(listed, name)
	}
	there, err := embedded.ReadDir("files/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range there {
		if !slices.Contains(listed, e.Name()) {
			t.Errorf("%s is not in the manifest", e.Name())
		}
	}
}

// firstLoad bounds what a browser fetches to show the page the first time, compressed.
const firstLoad = 200 << 10

func TestFirstLoadIsSmall(t *testing.T) {
	all, err := loadFiles("")
	if err != nil {
		t.Fatal(err)
	}
	sent := func(name string) int {
		f, ok := all[name]
		if !ok {
			t.Fatalf("there is no %s, which the page needs", name)
		}
		if f.zip != nil {
			return len(f.zip)
		}
		return len(f.text)
	}
	refers := regexp.MustCompile(`(?:href|src)="([^":]+)"|(?:from|import) ?\(?'(\.[^']+)'`)
	needed, sum := []string{"index.html"}, 0
	for i := 0; i < len(needed); i++ {
		name := needed[i]
		sum += sent(name)
		t.Log(name, sent(name))
		for _, m := range refers.FindAllStringSubmatch(string(all[name].text), -1) {
			if other := path.Join(path.Dir(name), m[1]+m[2]); !slices.Contains(needed, other) && !strings.HasPrefix(name, "vendor/") {
				needed = append(needed, other)
			}
		}
	}
	t.Logf("%d files, %d bytes", len(needed), sum)
	if sum > firstLoad {
		t.Errorf("the first load takes %d bytes, more than %d", sum, firstLoad)
	}
	for name := range all {
		if path.Ext(name) == ".js" && name != "sw.js" && name != "retire.js" && !slices.Contains(needed, name) {
			t.Errorf("nothing needs %s", name)
		}
	}
}

// The page's security policy allows no inline script or style. TestPageHasNoInlineScriptOrStyle
// checks that the page has none.
func TestPageHasNoInlineScriptOrStyle(t *testing.T) {
	text, err := embedded.ReadFile("files/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`<style|style=|<script[^>]*>[^<]|\son\w+=|https?://`).FindAllString(string(text), -1) {
		t.Errorf("index.html holds %q", found)
	}
	all, err := loadFiles("")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range all {
		if strings.HasPrefix(name, "vendor/") || path.Ext(name) != ".js" {
			continue
		}
		for _, found := range regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function`).FindAllString(string(f.text), -1) {
			t.Errorf("%s uses %s: what programs print is shown as text only", name, found)
		}
	}
}

// TestPageTextsAreInOneFile looks for sentences in scripts other than strings.js.
func TestPageTextsAreInOneFile(t *testing.T) {
	all, err := loadFiles("")
	if err != nil {
		t.Fatal(err)
	}
	sentence := regexp.MustCompile("['\"`][A-Z][a-z]+ [a-z]+[^'\"`]*['\"`]")
	for name, f := range all {
		if path.Dir(name) != "app" || name == "app/strings.js" {
			continue
		}
		for _, found := range sentence.FindAllString(string(f.text), -1) {
			t.Errorf("%s says %s, which belongs into strings.js", name, found)
		}
	}
}

// TestPageCanBeInstalled reads its manifest and the icons that it names.
func TestPageCanBeInstalled(t *testing.T) {
	text, err := embedded.ReadFile("files/manifest.webmanifest")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Name, Display string
		StartURL      string `json:"start_url"`
		Icons         []struct{ Src, Sizes, Type string }
	}
	if err := json.Unmarshal(text, &manifest); err != nil || manifest.Name == "" || manifest.Display != "standalone" || manifest.StartURL != "./" {
		t.Errorf("%+v, %v", manifest, err)
	}
	sizes := map[string]bool{}
	for _, icon := range manifest.Icons {
		text, err := embedded.ReadFile("files/" + icon.Src)
		if err != nil {
			t.Errorf("%s: %v", icon.Src, err)
			continue
		}
		if icon.Type != "image/png" {
			continue
		}
		shape, err := png.DecodeConfig(bytes.NewReader(text))
		if size := fmt.Sprintf("%dx%d", shape.Width, shape.Height); err != nil || size != icon.Sizes {
			t.Errorf("%s is %s, not %s: %v", icon.Src, size, icon.Sizes, err)
		}
		sizes[icon.Sizes] = true
	}
	if !sizes["192x192"] || !sizes["512x512"] {
		t.Errorf("there are icons of %v", sizes)
	}
}
