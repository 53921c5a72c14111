import ModelMacro

try MacroServer.run(SwiftDataExpansion.expand)
