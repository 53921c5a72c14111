import Foundation

extension ModelArchiveReader {
    /// - Parameters:
    ///   - archived: the archived property.
    ///   - name: the property's name.
    ///   - depth: how many levels of composite attributes are allowed.
    /// - Returns: the property as a value.
    /// - Throws: `ModelFileError` naming the property.
    static func property(_ archived: ArchivedObject, name: String, depth: Int = 16) throws -> PropertyDocument {
        let object = try archived.underlyingProperty()
        let kind: PropertyDocument.Kind
        if object.isKind(of: "NSAttributeDescription") {
            kind = .attribute(try attribute(object, depth: depth))
        } else if object.isKind(of: "NSRelationshipDescription") {
            kind = .relationship(try relationship(object))
        } else if object.isKind(of: "NSFetchedPropertyDescription") {
            var request = try object.optionalObject(forKey: "NSFetchRequest").map(fetchRequest)
            if request?.entityName.isEmpty == true {
                request?.entityName = try object.optionalString(forKey: "_NSFetchRequestEntityName") ?? ""
            }
            kind = .fetched(request)
        } else {
            throw object.unknownClass(expected: "an attribute, relationship or fetched property")
        }
        var property = PropertyDocument(name: try object.optionalString(forKey: "NSPropertyName") ?? name, kind: kind)
        property.isOptional = try object.boolean(forKey: "NSIsOptional")
        property.isTransient = try object.boolean(forKey: "NSIsTransient")
        property.isIndexed = try object.boolean(forKey: "NSIsIndexed")
        let flags = ModelArchive.PropertyFlags(rawValue: try object.integer(forKey: "_P", default: 0))
        property.isIndexedBySpotlight = flags.contains(.indexedBySpotlight)
        property.isStoredInExternalRecord = flags.contains(.storedInExternalRecord)
        property.userInfo = try userInfo(object)
        property.versionHashModifier = try object.optionalString(forKey: "NSVersionHashModifier")
        property.renamingIdentifier = try renamingIdentifier(object, name: property.name)
        property.validation = try validation(object)
        return property
    }

    private static func attribute(_ object: ArchivedObject, depth: Int) throws -> AttributeDocument {
        var attribute = AttributeDocument(type: try attributeType(object, "NSAttributeType"))
        let className = try object.optionalString(forKey: "NSAttributeValueClassName")
        attribute.valueClassName = className == attribute.type.valueClassName ? nil : className
        attribute.defaultValue = try modelValue(object.value(forKey: "NSDefaultValue"))
        attribute.valueTransformerName = try object.optionalString(forKey: "NSValueTransformerName")
        let flags = ModelArchive.AttributeFlags(rawValue: try object.integer(forKey: "NSFlagsKey", default: 0))
        attribute.allowsExternalStorage = flags.contains(.externalStorage)
        attribute.preservesValueOnDeletion = flags.contains(.preservedOnDeletion)
        attribute.allowsCloudEncryption = try object.boolean(forKey: "NSAllowsCloudEncryption")
        if object.isKind(of: "NSDerivedAttributeDescription") {
            let expression = try object.optionalObject(forKey: "NSDerivationExpression")
            attribute.derivation =
                try expression.map { .expression(try PredicateArchiveReader.expression($0)) } ?? .unknown
        }
        if object.isKind(of: "NSCompositeAttributeDescription") {
            attribute.elements = try compositeElements(object, depth: depth)
        }
        return attribute
    }

    private static func compositeElements(_ object: ArchivedObject, depth: Int) throws -> [PropertyDocument] {
        guard depth > 0 else {
            throw object.error(
                "NSCompositeElements", expected: "fewer levels of composites", found: "too many, or a circle")
        }
        return try elementObjects(object).map { element in
            try property(element, name: element.string(forKey: "NSPropertyName"), depth: depth - 1)
        }
    }

    /// The elements of a composite attribute: under Apple's key, or under any other, where they are the only array or
    /// dictionary of attributes in the object.
    private static func elementObjects(_ object: ArchivedObject) throws -> [ArchivedObject] {
        for key in ["NSCompositeElements"] + object.keys where key != "NSEntity" {
            guard case .object(let collection) = try object.value(forKey: key) else { continue }
            let values = try collection.elements() ?? collection.pairs()?.map(\.value) ?? []
            let elements = values.compactMap { value -> ArchivedObject? in
                guard case .object(let element) = value, element.isKind(of: "NSAttributeDescription") else {
                    return nil
                }
                return element
            }
            if !elements.isEmpty, elements.count == values.count { return elements }
        }
        return []
    }

    private static func relationship(_ object: ArchivedObject) throws -> RelationshipDocument {
        var relationship = RelationshipDocument()
        relationship.destinationName =
            try object.optionalString(forKey: "_NSDestinationEntityName")
            ?? object.optionalObject(forKey: "NSDestinationEntity")?.string(forKey: "NSEntityName")
        relationship.inverseName =
            try object.optionalString(forKey: "_NSInverseRelationshipName")
            ?? object.optionalObject(forKey: "NSInverseRelationship")?.underlyingProperty().string(
                forKey: "NSPropertyName")
        relationship.minCount = try count(object, "NSMinCount")
        relationship.maxCount = try count(object, "NSMaxCount")
        let rule = try object.integer(forKey: "NSDeleteRule", default: 0)
        guard let deleteRule = UInt(exactly: rule).flatMap(NSDeleteRule.init) else {
            throw object.error("NSDeleteRule", expected: "0 to 3", found: "\(rule)")
        }
        relationship.deleteRule = deleteRule
        relationship.isOrdered = try object.boolean(forKey: "NSIsOrdered")
        return relationship
    }

    /// Counts may be negative in models that programs built; anything below 1 means no bound.
    private static func count(_ object: ArchivedObject, _ key: String) throws -> Int {
        let number = try object.integer(forKey: key, default: 0)
        guard let count = Int(exactly: number) else { throw object.error(key, expected: "a count", found: "\(number)") }
        return count
    }

    private static func validation(_ object: ArchivedObject) throws -> [ValidationDocument] {
        let predicates = try object.optionalObjects(forKey: "NSValidationPredicates") ?? []
        let warnings = try object.optionalElements(forKey: "NSValidationWarnings") ?? []
        return try predicates.enumerated().map { position, predicate in
            let warning = warnings.indices.contains(position) ? try modelValue(warnings[position]) : nil
            return ValidationDocument(
                predicate: try PredicateArchiveReader.predicate(predicate), warning: warning ?? .string(""))
        }
    }

    static func fetchRequest(_ object: ArchivedObject) throws -> FetchRequestDocument {
        let entity = try object.optionalObject(forKey: "NSEntity")
        let name = try entity?.string(forKey: "NSEntityName") ?? object.optionalString(forKey: "NSEntityName") ?? ""
        var request = FetchRequestDocument(entityName: name)
        request.predicate = try object.optionalObject(forKey: "NSPredicate").map {
            try PredicateArchiveReader.predicate($0)
        }
        request.havingPredicate = try object.optionalObject(forKey: "NSHavingPredicate")
            .map { try PredicateArchiveReader.predicate($0) }
        request.sortTerms = try (object.optionalObjects(forKey: "NSSortDescriptors") ?? []).map(sortTerm)
        request.limit = try count(object, "NSFetchLimit")
        request.offset = try count(object, "NSFetchOffset")
        request.batchSize = try count(object, "NSBatchSize")
        request.resultType = UInt(clamping: try object.integer(forKey: "NSResultType", default: 0))
        request.prefetchedKeyPaths = try names(object, "NSRelationshipKeyPathsForPrefetching")
        request.propertiesToFetch = try names(object, "NSValuesToFetch")
        request.propertiesToGroupBy = try names(object, "NSValuesToGroupBy")
        guard try object.boolean(forKey: "NSHasFetchRequestFlags") else { return request }
        let flags = ModelArchive.FetchRequestFlags(rawValue: try object.integer(forKey: "NSFetchRequestFlags"))
        request.returnsDistinctResults = flags.contains(.distinctResults)
        request.includesSubentities = flags.contains(.subentities)
        request.includesPropertyValues = flags.contains(.propertyValues)
        request.returnsObjectsAsFaults = flags.contains(.objectsAsFaults)
        request.includesPendingChanges = flags.contains(.pendingChanges)
        request.refreshesRefetchedObjects = flags.contains(.refreshRefetched)
        return request
    }

    private static func names(_ object: ArchivedObject, _ key: String) throws -> [String] {
        try (object.optionalElements(forKey: key) ?? []).compactMap { element in
            if case .object(let object) = element {
                let property = try object.underlyingProperty()
                if property.isKind(of: "NSPropertyDescription") { return try property.string(forKey: "NSPropertyName") }
            }
            return try element.string()
        }
    }

    private static func sortTerm(_ object: ArchivedObject) throws -> SortTerm {
        let key = try object.optionalString(forKey: "NSKey") ?? "self"
        let selector = try object.optionalString(forKey: "NSSelector") ?? "compare:"
        guard let comparison = ModelArchive.sortSelectors.first(where: { $0.0 == selector })?.1 else {
            throw object.error("NSSelector", expected: "a comparison of Foundation's", found: "“\(selector)”")
        }
        return SortTerm(
            keyPath: key == "self" || key == "SELF" ? [] : key.split(separator: ".").map(String.init),
            ascending: try object.boolean(forKey: "NSAscending", default: true), comparison: comparison)
    }
}

extension ArchivedObject {
    /// The property that the object stands for, or the object itself: for some years, Core Data archived inherited
    /// properties as objects of a class `_NSPropertyDescriptionProxy` that refer to them.
    ///
    /// - Throws: an error if proxies refer to one another without end, or to nothing.
    func underlyingProperty() throws(KeyedArchiveError) -> ArchivedObject {
        let key = "NSUnderlyingProperty"
        var object = self
        var seen: Set<Int> = []
        while object.fields[key] != nil {
            guard seen.insert(object.index).inserted else {
                throw error(key, expected: "a property", found: "proxies that refer to one another")
            }
            object = try object.object(forKey: key)
        }
        return object
    }
}
