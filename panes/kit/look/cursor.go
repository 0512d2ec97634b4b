package look

import tea "charm.land/bubbletea/v2"

// OwnCursor means the cursor shape of the user's terminal.
const OwnCursor tea.CursorShape = -1
