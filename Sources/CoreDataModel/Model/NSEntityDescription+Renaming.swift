extension NSEntityDescription {
    /// Called before a property gets another name, which indexes and constraints have, too: those of a copy name it.
    func willRename(_ property: NSPropertyDescription, to name: String) {
        let former = property.name
        guard !isFrozen, former != name else { return }
        for element in indexes.flatMap(\.elements) where element.property === property { element.bind() }
        func renamed(_ lists: [[Any]]) -> [[Any]] { lists.map { $0.map { $0 as? String == former ? name : $0 } } }
        if propertiesByName[former] === property {
            if !uniquenessConstraints.isEmpty { uniquenessConstraints = renamed(uniquenessConstraints) }
            if !compoundIndexes.isEmpty { compoundIndexes = renamed(compoundIndexes) }
        }
        for child in subentities { child.willRename(property, to: name) }
    }
}
