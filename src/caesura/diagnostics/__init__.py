"""What Caesura has to say about the user's input: values here, their rendering in `render`."""

from caesura.diagnostics.diagnostic import CaesuraError, Diagnostic, Label, Severity, Source, Span

__all__ = ["CaesuraError", "Diagnostic", "Label", "Severity", "Source", "Span"]
