import Foundation

/// Reads Apple's keyed archive of a model.
package enum ModelArchiveReader {
    /// Reads a model.
    ///
    /// - Parameter data: the archive, a binary property list.
    /// - Returns: the model as a value.
    /// - Throws: `PropertyListError`, `KeyedArchiveError` or `ModelFileError`, the last naming entity and property.
    package static func document(of data: Data) throws -> ModelDocument {
        try document(of: KeyedArchive(data: data))
    }

    package static func document(of archive: KeyedArchive) throws -> ModelDocument {
        let root = try archive.root()
        guard root.isKind(of: "NSManagedObjectModel") else {
            throw ModelFileError(.corrupt, reason: "it holds an object of the class \(root.className), not a model")
        }
        var document = ModelDocument()
        for (name, object) in try namedObjects(root, "NSEntities") {
            document.entities.append(try entity(object, name: name, losses: &document.losses))
        }
        removeInheritedCopies(from: &document)
        document.forgetLostProperties()
        document.forgetLostIndexes()
        for (name, value) in try root.optionalPairs(forKey: "NSConfigurations") ?? [] {
            guard let name = try name.string(), case .object(let object) = value, let members = try object.elements()
            else {
                throw root.error("NSConfigurations", expected: "sets of entities by name", found: value.kind)
            }
            document.configurations[name] = try members.map { try entityName($0, in: root, key: "NSConfigurations") }
                .sorted()
        }
        for (name, object) in try namedObjects(root, "NSFetchRequestTemplates") {
            document.fetchRequestTemplates[name] = try fetchRequest(object)
        }
        document.versionIdentifiers = try (root.optionalElements(forKey: "NSVersionIdentifiers") ?? [])
            .compactMap { try $0.string() }.sorted()
        return document
    }

    /// The objects of an archived dictionary, sorted by name; Core Data writes them in the order of its hash table.
    private static func namedObjects(_ owner: ArchivedObject, _ key: String) throws -> [(String, ArchivedObject)] {
        guard let object = try owner.optionalObject(forKey: key) else { return [] }
        var result: [(String, ArchivedObject)] = []
        for (name, value) in try knownKeysPairs(object) ?? owner.optionalPairs(forKey: key) ?? [] {
            guard let name = try name.string(), case .object(let object) = value else {
                throw owner.error(key, expected: "objects by name", found: value.kind)
            }
            result.append((name, object))
        }
        return result.sorted { $0.0 < $1.0 }
    }

    /// The pairs of an `NSKnownKeysDictionary`: the mapping's keys with the values at the same positions.
    private static func knownKeysPairs(
        _ object: ArchivedObject
    ) throws -> [(key: ArchivedValue, value: ArchivedValue)]? {
        guard object.isKind(of: "NSKnownKeysDictionary") else { return nil }
        let mapping = try object.object(forKey: "searchMapping")
        let keys = try mapping.optionalElements(forKey: "keys") ?? []
        let values = try object.optionalElements(forKey: "values") ?? []
        guard keys.count == values.count else {
            throw object.error("values", expected: "\(keys.count) values", found: "\(values.count)")
        }
        let token = try object.optionalString(forKey: "emptyToken")
        return try zip(keys, values).map { (key: $0, value: $1) }.filter {
            try token == nil || $0.value.string() != token
        }
    }

    /// - Parameters:
    ///   - object: the archived entity.
    ///   - name: the entity's name.
    ///   - losses: receives the properties whose archives contain an object of an unknown class; the others are read.
    /// - Returns: the entity as a value.
    /// - Throws: `ModelFileError` naming the entity and the property.
    private static func entity(
        _ object: ArchivedObject, name: String, losses: inout [ArchiveLoss]
    ) throws -> EntityDocument {
        guard object.isKind(of: "NSEntityDescription") else {
            throw object.unknownClass(expected: "an NSEntityDescription")
        }
        var entity = EntityDocument(name: try object.string(forKey: "NSEntityName"))
        let className = try object.optionalString(forKey: "NSClassNameForEntity")
        entity.className = className == "NSManagedObject" ? nil : className
        entity.isAbstract = try object.boolean(forKey: "NSIsAbstract")
        entity.parentName = try object.optionalObject(forKey: "NSSuperentity")?.string(forKey: "NSEntityName")
        entity.userInfo = try userInfo(object)
        entity.versionHashModifier = try object.optionalString(forKey: "NSVersionHashModifier")
        entity.renamingIdentifier = try renamingIdentifier(object, name: entity.name)
        for (name, property) in try namedObjects(object, "NSProperties") {
            do {
                entity.properties.append(
                    try naming(entity: entity.name, property: name) { try self.property(property, name: name) })
            } catch let error as KeyedArchiveError {
                guard let className = error.unknownClass else { throw error }
                losses.append(ArchiveLoss(entity: entity.name, property: name, className: className))
            }
        }
        entity.uniquenessConstraints = try nameLists(object, "NSUniqueTuples")
        entity.compoundIndexes = try nameLists(object, "NSCompoundIndexes")
        // It has no meaning for a store, so one that cannot be read harms nothing.
        entity.spotlightDisplayName = try? object.optionalObject(forKey: "NSCoreSpotlightDisplayName")
            .map { try PredicateArchiveReader.expression($0) }
        for index in try object.optionalObjects(forKey: "NSFetchIndexDescriptions") ?? [] {
            do {
                entity.indexes.append(try naming(entity: entity.name, property: nil) { try self.index(index) })
            } catch let error as KeyedArchiveError {
                // Losing an index loses no data.
                guard error.unknownClass != nil else { throw error }
            }
        }
        return entity
    }

    /// Adds the place to errors that do not name it; other errors carry theirs.
    private static func naming<Result>(entity: String, property: String?, _ body: () throws -> Result) throws -> Result
    {
        do {
            return try body()
        } catch var error as ModelFileError {
            error.entity = entity
            error.property = error.property ?? property
            throw error
        }
    }

    /// Removes the inherited properties that a model in use lists with every entity; they belong to the entity that
    /// introduces them.
    private static func removeInheritedCopies(from document: inout ModelDocument) {
        let byName = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for position in document.entities.indices {
            var inherited: Set<String> = []
            var seen: Set<String> = [document.entities[position].name]
            var parent = document.entities[position].parentName.flatMap { byName[$0] }
            while let current = parent, seen.insert(current.name).inserted,
                seen.count <= DocumentCheck.maximumInheritance
            {
                inherited.formUnion(current.properties.map(\.name))
                parent = current.parentName.flatMap { byName[$0] }
            }
            document.entities[position].properties.removeAll { inherited.contains($0.name) }
        }
    }

    // MARK: What several kinds of object have

    static func userInfo(_ object: ArchivedObject) throws -> [String: ModelValue] {
        var result: [String: ModelValue] = [:]
        for (key, value) in try object.optionalPairs(forKey: "NSUserInfo") ?? [] {
            guard let key = try key.foundationValue(), let value = try modelValue(value) else { continue }
            result[(key as? String) ?? "\(key)"] = value
        }
        return result
    }

    /// The renaming identifier. Apple always writes it, but it matters only if it differs from the name.
    static func renamingIdentifier(_ object: ArchivedObject, name: String) throws -> String? {
        let identifier = try object.optionalString(forKey: "NSRenamingIdentifier")
        return identifier == name ? nil : identifier
    }

    static func modelValue(_ value: ArchivedValue) throws -> ModelValue? {
        if let object = try value.foundationValue(), let result = ModelValue(object: object) { return result }
        guard case .object(let object) = value else { return nil }
        return .archived(try KeyedArchiveFragment(object))
    }

    static func entityName(_ value: ArchivedValue, in owner: ArchivedObject, key: String) throws -> String {
        guard case .object(let entity) = value else {
            throw owner.error(key, expected: "an entity", found: value.kind)
        }
        return try entity.string(forKey: "NSEntityName")
    }

    /// Lists of lists of names; an element may be the property itself.
    private static func nameLists(_ object: ArchivedObject, _ key: String) throws -> [[String]] {
        try (object.optionalObjects(forKey: key) ?? []).map { list in
            guard let elements = try list.elements() else {
                throw object.error(key, expected: "arrays of names", found: list.className)
            }
            return try elements.map { element in
                if let name = try element.string() { return name }
                guard case .object(let property) = element else {
                    throw object.error(key, expected: "names", found: element.kind)
                }
                return try property.underlyingProperty().string(forKey: "NSPropertyName")
            }
        }
    }

    private static func index(_ object: ArchivedObject) throws -> IndexDocument {
        let elements = try (object.optionalObjects(forKey: "NSIndexElements") ?? []).map { element in
            let subject: IndexElementDocument.Subject
            // A property is only named. Earlier builds wrote an expression under `NSProperty`, and named nothing.
            let archived = try element.optionalObject(forKey: "NSIndexedProperty")?.underlyingProperty()
            if let expression = archived, expression.isKind(of: "NSExpressionDescription") {
                subject = try self.expression(expression, typeKey: "NSExpressionType")
            } else if let name = try element.optionalString(forKey: "NSPropertyName") {
                subject = .property(name)
            } else {
                subject = try expression(
                    element.object(forKey: "NSProperty").underlyingProperty(), typeKey: "NSExpressionResultType")
            }
            let number = try element.integer(forKey: "NSFetchIndexElementType", default: 0)
            guard let type = UInt(exactly: number).flatMap(NSFetchIndexElementType.init) else {
                throw element.error("NSFetchIndexElementType", expected: "0 or 1", found: "\(number)")
            }
            return IndexElementDocument(
                subject, type: type, isAscending: try element.boolean(forKey: "NSAscending", default: true))
        }
        let predicate = try object.optionalObject(forKey: "NSPartialIndexPredicate")
        return IndexDocument(
            name: try object.string(forKey: "NSIndexName"), elements: elements,
            predicate: try predicate.map { try PredicateArchiveReader.predicate($0) })
    }

    private static func expression(
        _ property: ArchivedObject, typeKey: String
    ) throws -> IndexElementDocument.Subject {
        let name = try property.optionalString(forKey: "NSPropertyName") ?? IndexElementDocument.expressionName
        return .expression(
            name: IndexElementDocument.isNumbered(name) ? IndexElementDocument.expressionName : name,
            try property.optionalObject(forKey: "NSExpression").map { try PredicateArchiveReader.expression($0) },
            try attributeType(property, typeKey))
    }

    static func attributeType(_ object: ArchivedObject, _ key: String) throws -> NSAttributeType {
        let number = try object.integer(forKey: key, default: 0)
        guard let type = UInt(exactly: number).flatMap(NSAttributeType.init) else {
            throw object.error(key, expected: "an attribute type of Core Data", found: "\(number)")
        }
        return type
    }
}
