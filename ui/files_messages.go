package ui

import tea "charm.land/bubbletea/v2"

func (msg filesListed) take(m *model) tea.Cmd { return m.takeListed(msg) }

func (msg filesArranged) take(m *model) tea.Cmd {
	m.takeArranged(msg)
	return nil
}

func (msg filesSlow) take(m *model) tea.Cmd {
	m.takeSlow(msg)
	return nil
}

func (msg filesMatched) take(m *model) tea.Cmd { return m.takeMatched(msg) }

func (msg filesRested) take(m *model) tea.Cmd {
	if f := &m.files; msg.serial == f.serial && msg.rest == f.rests && f.resting {
		f.listing, f.resting = false, false
	}
	return nil
}

func (msg filesWatched) take(m *model) tea.Cmd { return m.takeWatched(msg) }

func (msg filesGit) take(m *model) tea.Cmd { return m.takeGit(msg) }

func (msg gitRested) take(m *model) tea.Cmd {
	if msg.serial == m.files.serial {
		m.files.asking = false
	}
	return nil
}

func (msg filesAbove) take(m *model) tea.Cmd {
	m.takeAbove(msg)
	return nil
}

func (msg previewed) take(m *model) tea.Cmd {
	m.takePreviewed(msg)
	return nil
}

func (msg changedFiles) take(m *model) tea.Cmd   { return m.takeChangedFiles(msg) }
func (msg transferWanted) take(m *model) tea.Cmd { return m.transfer(msg.in) }
func (msg transferBegun) take(m *model) tea.Cmd  { return m.takeTransferBegun(msg) }
func (msg transferNews) take(m *model) tea.Cmd   { return m.takeTransferNews(msg) }
func (msg renameList) take(m *model) tea.Cmd     { return m.editRenameList(msg) }
func (msg renamesRead) take(m *model) tea.Cmd    { return m.takeRenames(msg) }
func (msg bookmarksRead) take(m *model) tea.Cmd  { return m.takeBookmarks(msg) }
func (msg goneTo) take(m *model) tea.Cmd         { return m.takeGoneTo(msg) }

func (msg pathListed) take(m *model) tea.Cmd {
	m.takePathListed(msg)
	return nil
}

func (msg filesFound) take(m *model) tea.Cmd { return m.takeFound(msg) }

func (msg fileSearched) take(m *model) tea.Cmd { return m.takeSearched(msg) }
