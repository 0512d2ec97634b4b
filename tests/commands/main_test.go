package commands

import (
	"testing"

	"tandem/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func TestScripts(t *testing.T) { harness.Scripts(t, "testdata/*.txtar") }
