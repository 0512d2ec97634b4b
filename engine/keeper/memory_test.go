package keeper

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

func TestReleasingMemoryShrinksTheProcessAndHarmsNothing(t *testing.T) {
	before := fileMemory(t)
	releaseMemory()
	if after := fileMemory(t); after >= before {
		t.Errorf("%d kB of files are mapped, before it were %d", after, before)
	}
	// Every test that follows runs on what comes back.
}

func fileMemory(t *testing.T) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("no RssFile in %s", status)
	}
	kB, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB
}

func TestOnlyFilesMappedForReadingAreReleased(t *testing.T) {
	for line, want := range map[string]bool{
		"00400000-008b3000 r-xp 00000000 fe:00 9994889     /usr/bin/tandem": true,
		"008b3000-00db8000 r--p 004b3000 fe:00 9994889     /usr/bin/tandem": true,
		"00db8000-00e9c000 rw-p 009b8000 fe:00 9994889     /usr/bin/tandem": false,
		"7ffd0000-7ffd1000 r-xp 00000000 00:00 0           [vdso]":          false,
		"00e9c000-03104000 r--p 00000000 00:00 0":                           false,
		"Rss:                3412 kB":                                       false,
		"x-y r--p 00000000 fe:00 9994889                   /usr/bin/tandem": false,
	} {
		if _, _, got := readOnlyMapping(line); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}
