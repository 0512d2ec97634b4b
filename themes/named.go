package themes

import "charm.land/lipgloss/v2"

// allThemes lists the themes with colours of their own, in the order offered to the user. The
// first two are the default ones. The others are published palettes: a colour with too little contrast
// to the theme's background or bar is shifted towards white or black until it has enough.
func allThemes() []Theme {
	c := lipgloss.Color
	return []Theme{
		newTheme("dark", true, c("#16181d"), Palette{
			Text: c("#dde1e8"), Muted: c("#a9b0bd"), Faint: c("#969daa"), Accent: c("#7cc4ff"),
			Border: c("#4a5160"), Success: c("#8fd694"), Warning: c("#f0c674"), Danger: c("#ff9b93"), Info: c("#8fd3e0"),
			Selection: c("#2f4256"), SelectionText: c("#ffffff"),
			Bar: c("#262b34"), BarText: c("#dde1e8"), BarMuted: c("#a9b0bd"),
		}, "#1e2127", "#ff7b72", "#8fd694", "#f0c674", "#7cc4ff", "#d8a6ff", "#8fd3e0", "#dde1e8",
			"#6b7280", "#ffa198", "#b5e8b8", "#ffe08a", "#a6d8ff", "#e8c8ff", "#b6e6ef", "#ffffff"),
		newTheme("light", false, c("#ffffff"), Palette{
			Text: c("#1f2430"), Muted: c("#4b5362"), Faint: c("#5c6472"), Accent: c("#0b57a4"),
			Border: c("#b5bbc6"), Success: c("#1a6b2c"), Warning: c("#7a4f00"), Danger: c("#b0221b"), Info: c("#0a6173"),
			Selection: c("#d3e5f8"), SelectionText: c("#10151f"),
			Bar: c("#e6e9ef"), BarText: c("#1f2430"), BarMuted: c("#4b5362"),
		}, "#1f2430", "#b0221b", "#1a6b2c", "#7a4f00", "#0b57a4", "#7b2fa0", "#0a6173", "#c9ced8",
			"#5c6472", "#d1372e", "#2a8540", "#976300", "#2673c4", "#9a4bc0", "#167c92", "#ffffff"),
		newTheme("catppuccin-mocha", true, c("#1e1e2e"), Palette{
			Text: c("#cdd6f4"), Muted: c("#a6adc8"), Faint: c("#9399b2"), Accent: c("#89b4fa"),
			Border: c("#45475a"), Success: c("#a6e3a1"), Warning: c("#f9e2af"), Danger: c("#f38ba8"), Info: c("#94e2d5"),
			Selection: c("#45475a"), SelectionText: c("#dde3f8"),
			Bar: c("#313244"), BarText: c("#cdd6f4"), BarMuted: c("#a6adc8"),
		}, "#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de",
			"#585b70", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#a6adc8"),
		newTheme("catppuccin-latte", false, c("#eff1f5"), Palette{
			Text: c("#4c4f69"), Muted: c("#5c5f77"), Faint: c("#686b80"), Accent: c("#1a58d3"),
			Border: c("#bcc0cc"), Success: c("#2d701e"), Warning: c("#865511"), Danger: c("#c1102c"), Info: c("#116c71"),
			Selection: c("#ccd0da"), SelectionText: c("#383a4e"),
			Bar: c("#dce0e8"), BarText: c("#4c4f69"), BarMuted: c("#5c5f77"),
		}, "#5c5f77", "#d20f39", "#40a02b", "#df8e1d", "#1e66f5", "#ea76cb", "#179299", "#acb0be",
			"#6c6f85", "#d20f39", "#40a02b", "#df8e1d", "#1e66f5", "#ea76cb", "#179299", "#bcc0cc"),
		newTheme("gruvbox-dark", true, c("#282828"), Palette{
			Text: c("#ebdbb2"), Muted: c("#bdae93"), Faint: c("#a89984"), Accent: c("#8daca0"),
			Border: c("#504945"), Success: c("#b8bb26"), Warning: c("#fabd2f"), Danger: c("#fc8071"), Info: c("#8ec07c"),
			Selection: c("#504945"), SelectionText: c("#fbf1c7"),
			Bar: c("#3c3836"), BarText: c("#ebdbb2"), BarMuted: c("#bdae93"),
		}, "#282828", "#cc241d", "#98971a", "#d79921", "#458588", "#b16286", "#689d6a", "#a89984",
			"#928374", "#fb4934", "#b8bb26", "#fabd2f", "#83a598", "#d3869b", "#8ec07c", "#ebdbb2"),
		newTheme("gruvbox-light", false, c("#fbf1c7"), Palette{
			Text: c("#3c3836"), Muted: c("#504945"), Faint: c("#665c54"), Accent: c("#076678"),
			Border: c("#bdae93"), Success: c("#6a660c"), Warning: c("#8a5a0f"), Danger: c("#9d0006"), Info: c("#3b6f4f"),
			Selection: c("#ebdbb2"), SelectionText: c("#282828"),
			Bar: c("#f2e5bc"), BarText: c("#3c3836"), BarMuted: c("#504945"),
		}, "#fbf1c7", "#cc241d", "#98971a", "#d79921", "#458588", "#b16286", "#689d6a", "#7c6f64",
			"#928374", "#9d0006", "#79740e", "#b57614", "#076678", "#8f3f71", "#427b58", "#3c3836"),
		newTheme("tokyo-night", true, c("#1a1b26"), Palette{
			Text: c("#c0caf5"), Muted: c("#a9b1d6"), Faint: c("#9aa5ce"), Accent: c("#7aa2f7"),
			Border: c("#3b4261"), Success: c("#9ece6a"), Warning: c("#e0af68"), Danger: c("#f7768e"), Info: c("#7dcfff"),
			Selection: c("#33467c"), SelectionText: c("#dee3fa"),
			Bar: c("#24283b"), BarText: c("#c0caf5"), BarMuted: c("#a9b1d6"),
		}, "#15161e", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#a9b1d6",
			"#414868", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#c0caf5"),
		newTheme("nord", true, c("#2e3440"), Palette{
			Text: c("#d8dee9"), Muted: c("#c0c8d6"), Faint: c("#a9b2c3"), Accent: c("#88c0d0"),
			Border: c("#4c566a"), Success: c("#a3be8c"), Warning: c("#ebcb8b"), Danger: c("#daa3a9"), Info: c("#8fbcbb"),
			Selection: c("#434c5e"), SelectionText: c("#eceff4"),
			Bar: c("#3b4252"), BarText: c("#d8dee9"), BarMuted: c("#c0c8d6"),
		}, "#3b4252", "#bf616a", "#a3be8c", "#ebcb8b", "#81a1c1", "#b48ead", "#88c0d0", "#e5e9f0",
			"#4c566a", "#bf616a", "#a3be8c", "#ebcb8b", "#81a1c1", "#b48ead", "#8fbcbb", "#eceff4"),
		newTheme("dracula", true, c("#282a36"), Palette{
			Text: c("#f8f8f2"), Muted: c("#bfc3d4"), Faint: c("#a4a9c0"), Accent: c("#bd93f9"),
			Border: c("#44475a"), Success: c("#50fa7b"), Warning: c("#f1fa8c"), Danger: c("#ff7a7a"), Info: c("#8be9fd"),
			Selection: c("#44475a"), SelectionText: c("#f8f8f2"),
			Bar: c("#343746"), BarText: c("#f8f8f2"), BarMuted: c("#bfc3d4"),
		}, "#21222c", "#ff5555", "#50fa7b", "#f1fa8c", "#bd93f9", "#ff79c6", "#8be9fd", "#f8f8f2",
			"#6272a4", "#ff6e6e", "#69ff94", "#ffffa5", "#d6acff", "#ff92df", "#a4ffff", "#ffffff"),
		newTheme("solarized-dark", true, c("#002b36"), Palette{
			Text: c("#93a1a1"), Muted: c("#93a1a1"), Faint: c("#839496"), Accent: c("#51a2db"),
			Border: c("#2f535d"), Success: c("#91a31a"), Warning: c("#bc951a"), Danger: c("#e97c7a"), Info: c("#3faaa2"),
			Selection: c("#0f4552"), SelectionText: c("#eee8d5"),
			Bar: c("#073642"), BarText: c("#93a1a1"), BarMuted: c("#93a1a1"),
		}, "#073642", "#dc322f", "#859900", "#b58900", "#268bd2", "#d33682", "#2aa198", "#eee8d5",
			"#002b36", "#cb4b16", "#586e75", "#657b83", "#839496", "#6c71c4", "#93a1a1", "#fdf6e3"),
		newTheme("solarized-light", false, c("#fdf6e3"), Palette{
			Text: c("#546a70"), Muted: c("#546a70"), Faint: c("#5d7179"), Accent: c("#1d6aa0"),
			Border: c("#c8c3b0"), Success: c("#5d6b00"), Warning: c("#7f6000"), Danger: c("#c22c29"), Info: c("#1d716a"),
			Selection: c("#e4dec9"), SelectionText: c("#073642"),
			Bar: c("#eee8d5"), BarText: c("#53676e"), BarMuted: c("#53676e"),
		}, "#073642", "#dc322f", "#859900", "#b58900", "#268bd2", "#d33682", "#2aa198", "#eee8d5",
			"#002b36", "#cb4b16", "#586e75", "#657b83", "#839496", "#6c71c4", "#93a1a1", "#fdf6e3"),
	}
}
