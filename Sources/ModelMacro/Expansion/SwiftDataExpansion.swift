/// The expansions of SwiftData's macros.
package enum SwiftDataExpansion {
    /// The answer of the macro that a message names.
    package static func expand(_ attached: CompilerMessage.Attached) -> MacroExpansion {
        let source = attached.declSyntax.source
        switch (attached.macro.typeName ?? attached.macro.name, attached.macroRole) {
        case ("PersistentModelMacro", "memberAttribute"): return PersistentModelExpansion.attribute(ofMember: source)
        case ("PersistentModelMacro", "extension"):
            return PersistentModelExpansion.extensions(
                of: attached.typeName(or: ClassDeclaration(source).name), conformances: attached.conformances)
        case ("PersistentModelMacro", _):
            return PersistentModelExpansion(of: ClassDeclaration(source), conformances: attached.conformances).members
        case ("PersistedPropertyMacro", let role), ("TransformablePersistedPropertyMacro", let role):
            let isTransformable = attached.macro.typeName == "TransformablePersistedPropertyMacro"
            let expansion = PersistedPropertyExpansion(of: source, isTransformable: isTransformable)
            return (role == "accessor" ? expansion?.accessors : expansion?.peer) ?? MacroExpansion()
        case ("PersistentModelActorMacro", "extension"):
            return ModelActorExpansion.extensions(
                of: attached.typeName(or: ClassDeclaration(source).name), conformances: attached.conformances)
        case ("PersistentModelActorMacro", _): return ModelActorExpansion(of: ClassDeclaration(source)).members
        // @Attribute, @Relationship and @Transient only mark what @Model reads.
        default: return MacroExpansion()
        }
    }
}
