package embedded

// SetMinDead makes indices created from now on drop deleted documents after so
// few of them, so that tests see it happen often.
func (e *Engine) SetMinDead(n int) { e.minDead = n }
