import ModelMacro

try MacroServer.run(CoreModelExpansion.expand)
