package scan

import "testing"

func TestCompleteLenExcludesIncompleteCharacter(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "aé": 3, "aé"[:2]: 1, "a日"[:3]: 1, "a\U0001f600"[:4]: 1, "\xff": 1, "a\x80\x80": 3, "\x80\x80\x80\x80\x80": 5, "日": 3, "日"[:1]: 0,
	} {
		if got := CompleteLen([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestCommonLenFindsFirstDifference(t *testing.T) {
	const text = "The quick brown fox jumps"
	for n := range len(text) {
		other := []byte(text)
		other[n] ^= 1
		if got := CommonLen([]byte(text), other); got != n {
			t.Errorf("with byte %d changed: %d", n, got)
		}
		if got := CommonLen([]byte(text), []byte(text[:n])); got != n {
			t.Errorf("with %d bytes: %d", n, got)
		}
	}
}
