import ModelMacro

try MacroServer.run { attached in
    attached.macro.typeName == "CoreModelMacro"
        ? CoreModelExpansion.expand(attached) : SwiftDataExpansion.expand(attached)
}
