package ui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
)

// BenchmarkPaletteKey types a key into a palette of 1,000 processes and 200 commands, and
// draws the result.
func BenchmarkPaletteKey(b *testing.B) {
	m, _ := busyModel(b)
	for i := range 1000 {
		m.news.Processes = append(m.news.Processes, api.Process{
			ID: fmt.Sprintf("%012x", i), Name: fmt.Sprintf("worker-%d", i), Kind: "process", State: api.StateRunning,
			Command: fmt.Sprintf("node server/worker.js --port %d", 3000+i), Argv: []string{"node", "server/worker.js"}, CWD: "/home/ann/src/web",
		})
	}
	m.dialog.ForUser(m.showPalette)
	var answer paletteAnswer
	for i := range 200 {
		answer.commands = append(answer.commands, api.HistoryRow{Command: api.Command{
			Command: fmt.Sprintf("docker compose -f deploy/%d.yaml up --build --remove-orphans", i), CWD: "/home/ann/src"}})
	}
	m.dialog.open.(*palette).applyAnswer(answer, nil)
	typed := []keys.Key{{Code: 'o', Text: "o"}, {Code: 'r', Text: "r"}, {Code: '4', Text: "4"}, {Code: keys.Backspace}, {Code: keys.Backspace}, {Code: keys.Backspace}}
	var model tea.Model = m
	i := 0
	for b.Loop() {
		m.keyboard.press(typed[i%len(typed)])
		i++
		model.View()
	}
}
