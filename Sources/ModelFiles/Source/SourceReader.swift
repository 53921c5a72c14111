import Foundation

/// Reads the XML of Xcode's model editor: the `contents` of an `.xcdatamodel`.
package enum SourceReader {
    /// Reads a model.
    ///
    /// - Parameters:
    ///   - contents: the bytes of the file `contents`.
    ///   - moduleName: the module for classes of the “current product module”; nil leaves their names without a module.
    /// - Returns: the model as a value.
    /// - Throws: `ModelFileError` naming line, entity and property.
    package static func document(of contents: Data, moduleName: String? = nil) throws -> ModelDocument {
        try document(of: SourceElement.root(of: contents), moduleName: moduleName)
    }

    /// Reads a model of Xcode 3.
    ///
    /// - Parameters:
    ///   - elements: the bytes of the file `elements`.
    ///   - moduleName: as for `document(of:moduleName:)`.
    /// - Returns: the model as a value.
    /// - Throws: `PropertyListError` or `KeyedArchiveError` for a file that is not an archive, `ModelFileError` naming
    ///   entity and property.
    package static func document(ofElements elements: Data, moduleName: String? = nil) throws -> ModelDocument {
        try document(of: LegacySource.model(of: elements), moduleName: moduleName)
    }

    /// The parts of a file that are not understood and have no meaning for a store.
    ///
    /// - Throws: `ModelFileError` if it is not XML.
    package static func warnings(of contents: Data) throws -> [SourceWarning] {
        SourceWarnings.warnings(of: try SourceElement.root(of: contents))
    }

    /// The same of a file of Xcode 3.
    ///
    /// - Throws: an error if it is no such file.
    package static func warnings(ofElements elements: Data) throws -> [SourceWarning] {
        SourceWarnings.warnings(of: try LegacySource.model(of: elements))
    }

    private static func document(of root: SourceElement, moduleName: String?) throws -> ModelDocument {
        guard root.name == "model" else {
            throw ModelFileError(.corrupt, line: root.line, reason: "its root element is <\(root.name)>, not <model>")
        }
        var document = ModelDocument()
        let composites = try CompositeDefinitions(in: root)
        for element in root.children(named: "entity") {
            document.entities.append(try entity(element, composites: composites, moduleName: moduleName))
        }
        for element in root.children(named: "configuration") {
            let name = try element.requiredName(.init())
            let members = try element.children(named: "memberEntity").map { try $0.requiredName(.init()) }
            guard document.configurations.updateValue(members, forKey: name) == nil else {
                throw element.error(.init(), "there are two configurations named “\(name)”")
            }
        }
        for element in root.children(named: "fetchRequest") {
            let name = try element.requiredName(.init())
            let request = try fetchRequest(element, .init(entity: element.string("entity")))
            guard document.fetchRequestTemplates.updateValue(request, forKey: name) == nil else {
                throw element.error(.init(), "there are two fetch requests named “\(name)”")
            }
        }
        // An empty identifier counts: Apple's compiler writes a set with the empty string.
        if let identifiers = root.attributes["userDefinedModelVersionIdentifier"] {
            document.versionIdentifiers = [identifiers]
        }
        return document
    }

    private static func entity(
        _ element: SourceElement, composites: CompositeDefinitions, moduleName: String?
    ) throws -> EntityDocument {
        let name = try element.requiredName(.init())
        let place = SourceElement.Place(entity: name)
        var entity = EntityDocument(name: name)
        entity.parentName = element.string("parentEntity")
        entity.isAbstract = try element.boolean("isAbstract", place)
        entity.versionHashModifier = element.string("versionHashModifier")
        entity.renamingIdentifier = renamingIdentifier(element, name: name)
        entity.userInfo = element.userInfo
        if let className = element.string("representedClassName"), !className.isEmpty {
            // A leading period stands for the current product module.
            entity.isClassInCurrentModule = className.hasPrefix(".")
            let bare = entity.isClassInCurrentModule ? String(className.dropFirst()) : className
            entity.className = entity.isClassInCurrentModule ? moduleName.map { "\($0).\(bare)" } ?? bare : bare
            if entity.className == "NSManagedObject" || bare.isEmpty { entity.className = nil }
        }
        entity.spotlightDisplayName = spotlightDisplayName(element)
        entity.codeGeneration = element.string("codeGenerationType").flatMap(CodeGeneration.init(sourceValue:)) ?? .none
        for child in element.children {
            switch child.name {
            case "attribute", "composite":
                entity.properties.append(try attribute(child, entity: name, composites: composites))
            case "relationship":
                entity.properties.append(try relationship(child, entity: name))
            case "fetchedProperty":
                entity.properties.append(try fetchedProperty(child, entity: name))
            case "fetchIndex":
                entity.indexes.append(try index(child, place))
            case "uniquenessConstraints":
                entity.uniquenessConstraints += try constraints(child, place)
            case "compoundIndexes":
                entity.compoundIndexes += try compoundIndexes(child, place)
            default:
                continue
            }
        }
        try refuseElements(in: entity, element, place)
        entity.markIndexedProperties()
        return entity
    }

    /// The expression for the name that Spotlight shows. It has no meaning for a store, so one that cannot be read is a
    /// warning.
    static func spotlightDisplayName(_ element: SourceElement) -> ExpressionTree? {
        element.string("coreSpotlightDisplayNameExpression").flatMap { try? expressionTree($0, element, .init()) }
    }

    /// The name in the previous version, if it differs from the name.
    static func renamingIdentifier(_ element: SourceElement, name: String) -> String? {
        let identifier = element.string("elementID")
        return identifier == name ? nil : identifier
    }

    private static func constraints(_ element: SourceElement, _ place: SourceElement.Place) throws -> [[String]] {
        try element.children(named: "uniquenessConstraint").map { constraint in
            try constraint.children(named: "constraint").map { part in
                guard let value = part.string("value") else {
                    throw part.error(place, "a uniqueness constraint names no attribute")
                }
                return value
            }
        }
    }

    /// Refuses constraints on elements of composite attributes, which no store would enforce.
    private static func refuseElements(
        in entity: EntityDocument, _ element: SourceElement, _ place: SourceElement.Place
    ) throws {
        let constraints = element.children(named: "uniquenessConstraints").flatMap(\.children)
        for part in constraints.flatMap({ $0.children(named: "constraint") }) {
            guard let value = part.string("value"), entity.isElement(value) else { continue }
            throw part.error(
                place,
                "a uniqueness constraint names “\(value)”, an element of a composite attribute, which no store keeps "
                    + "unique; make it an attribute of the entity")
        }
    }

    private static func compoundIndexes(_ element: SourceElement, _ place: SourceElement.Place) throws -> [[String]] {
        try element.children(named: "compoundIndex").map { index in
            try index.children(named: "index").map { part in
                guard let value = part.string("value") else {
                    throw part.error(place, "a compound index names no property")
                }
                return value
            }
        }
    }

    private static func index(_ element: SourceElement, _ place: SourceElement.Place) throws -> IndexDocument {
        let name = try element.requiredName(place)
        var elements: [IndexElementDocument] = []
        for child in element.children(named: "fetchIndexElement") {
            let subject: IndexElementDocument.Subject
            if let property = child.string("property") {
                subject = .property(property)
            } else if let expression = child.string("expression") {
                let type = try child.string("expressionType").map { try attributeType($0, child, place) }
                let tree = try expressionTree(expression, child, place)
                subject = .expression(name: IndexElementDocument.expressionName, tree, type ?? .undefinedAttributeType)
            } else {
                throw child.error(place, "an element of the index “\(name)” names neither property nor expression")
            }
            elements.append(
                IndexElementDocument(
                    subject, type: indexElementType(child) ?? .binary,
                    isAscending: child.string("order") != "descending"))
        }
        let predicate = try (element.string("partialIndexPredicate") ?? element.string("predicateString"))
            .map { try predicateTree($0, element, place) }
        return IndexDocument(name: name, elements: elements, predicate: predicate)
    }

    /// The kind of an index that an element of it asks for. `nil` for a word that Xcode does not write, which is a
    /// warning, since an index changes no result.
    static func indexElementType(_ element: SourceElement) -> NSFetchIndexElementType? {
        switch element.string("type") {
        case nil, "Binary": .binary
        case "RTree": .rTree
        default: nil
        }
    }
}

extension SourceReader {
    static func relationship(_ element: SourceElement, entity: String) throws -> PropertyDocument {
        let name = try element.requiredName(.init(entity: entity))
        let place = SourceElement.Place(entity: entity, property: name)
        var relationship = RelationshipDocument()
        relationship.destinationName = element.string("destinationEntity")
        relationship.inverseName = element.string("inverseName")
        relationship.isOrdered = try element.boolean("ordered", place)
        let isToMany = try element.boolean("toMany", place)
        relationship.minCount = try element.integer("minCount", place)
        relationship.maxCount = isToMany ? try element.integer("maxCount", place) : 1
        guard relationship.minCount >= 0 else {
            throw element.error(place, "minCount is \(relationship.minCount); 0 or more expected")
        }
        guard relationship.maxCount <= 0 || relationship.minCount <= relationship.maxCount else {
            throw element.error(
                place, "minCount is \(relationship.minCount), more than maxCount, which is \(relationship.maxCount)")
        }
        switch element.string("deletionRule") {
        case nil, "Nullify": relationship.deleteRule = .nullifyDeleteRule
        case "Cascade": relationship.deleteRule = .cascadeDeleteRule
        case "Deny": relationship.deleteRule = .denyDeleteRule
        case "No Action": relationship.deleteRule = .noActionDeleteRule
        case .some(let other):
            throw element.error(place, "deletionRule is “\(other)”; Nullify, Cascade, Deny or No Action expected")
        }
        var property = PropertyDocument(name: name, kind: .relationship(relationship))
        try readCommon(element, into: &property, place)
        property.isTransient = try element.boolean("transient", place)
        return property
    }

    static func fetchedProperty(_ element: SourceElement, entity: String) throws -> PropertyDocument {
        let name = try element.requiredName(.init(entity: entity))
        let place = SourceElement.Place(entity: entity, property: name)
        let request = try element.children(named: "fetchRequest").first.map { try fetchRequest($0, place) }
        var property = PropertyDocument(name: name, kind: .fetched(request))
        try readCommon(element, into: &property, place)
        // The value is computed and never stored.
        property.isTransient = true
        return property
    }

    static func fetchRequest(_ element: SourceElement, _ place: SourceElement.Place) throws -> FetchRequestDocument {
        guard let entity = element.string("entity") else {
            throw element.error(place, "a fetch request names no entity")
        }
        var request = FetchRequestDocument(entityName: entity)
        request.predicate = try element.string("predicateString").map { try predicateTree($0, element, place) }
        request.limit = try element.integer("fetchLimit", place)
        request.batchSize = try element.integer("fetchBatchSize", place)
        request.resultType = UInt(clamping: try element.integer("resultType", place))
        request.includesSubentities = try element.boolean("includeSubentities", default: true, place)
        let implied = FetchRequestDocument.implied(byResultType: request.resultType)
        request.includesPropertyValues = try element.boolean(
            "includePropertyValues", default: implied.propertyValues, place)
        request.includesPendingChanges = try element.boolean(
            "includesPendingChanges", default: implied.pendingChanges, place)
        request.returnsObjectsAsFaults = try element.boolean("returnObjectsAsFaults", default: true, place)
        request.returnsDistinctResults = try element.boolean("returnDistinctResults", place)
        return request
    }

    // MARK: Format strings

    static func predicateTree(
        _ format: String, _ element: SourceElement, _ place: SourceElement.Place
    ) throws -> PredicateTree {
        do {
            return try PredicateFormat.predicateTree(parsing: format)
        } catch {
            throw element.error(place, "the predicate “\(format)” does not parse: \(error.localizedDescription)")
        }
    }

    static func expressionTree(
        _ format: String, _ element: SourceElement, _ place: SourceElement.Place
    ) throws -> ExpressionTree {
        do {
            return try PredicateFormat.expressionTree(parsing: format)
        } catch {
            throw element.error(place, "the expression “\(format)” does not parse: \(error.localizedDescription)")
        }
    }
}

extension SourceReader {
    /// The types by their names in Xcode's files.
    package static let attributeTypes: [String: NSAttributeType] = [
        "Undefined": .undefinedAttributeType, "Integer 16": .integer16AttributeType,
        "Integer 32": .integer32AttributeType, "Integer 64": .integer64AttributeType,
        "Decimal": .decimalAttributeType, "Double": .doubleAttributeType, "Float": .floatAttributeType,
        "String": .stringAttributeType, "Boolean": .booleanAttributeType, "Date": .dateAttributeType,
        "Binary": .binaryDataAttributeType, "UUID": .UUIDAttributeType, "URI": .URIAttributeType,
        "Transformable": .transformableAttributeType, "ObjectID": .objectIDAttributeType,
        "Composite": .compositeAttributeType,
    ]

    static func attributeType(
        _ name: String, _ element: SourceElement, _ place: SourceElement.Place
    ) throws -> NSAttributeType {
        if let type = attributeTypes[name] { return type }
        let known = attributeTypes.keys.sorted().joined(separator: ", ")
        throw element.error(place, "“\(name)” is not an attribute type; one of \(known) expected")
    }

    static func attribute(
        _ element: SourceElement, entity: String?, composites: CompositeDefinitions, open: [String] = []
    ) throws -> PropertyDocument {
        let name = try element.requiredName(.init(entity: entity))
        let place = SourceElement.Place(entity: entity, property: name)
        let typeName = element.string("attributeType") ?? (element.name == "composite" ? "Composite" : "Undefined")
        var attribute = AttributeDocument(type: try attributeType(typeName, element, place))
        attribute.valueTransformerName = element.string("valueTransformerName")
        // Xcode writes a lone point where a module was chosen, and no class.
        attribute.customClassName = element.string("customClassName").flatMap { $0 == "." ? nil : $0 }
        attribute.valueClassName = element.string("attributeValueClassName") ?? attribute.archivedClassName
        attribute.allowsExternalStorage = try element.boolean("allowsExternalBinaryDataStorage", place)
        attribute.preservesValueOnDeletion = try element.boolean("preserveAfterDeletion", place)
        attribute.allowsCloudEncryption = element.lenientBoolean("allowsCloudEncryption")
        attribute.usesScalarType = element.lenientBoolean("usesScalarValueType")
        if try element.boolean("derived", place) {
            attribute.derivation =
                try element.string("derivationExpression")
                .map { .expression(try expressionTree($0, element, place)) } ?? .unknown
        }
        attribute.defaultValue = try defaultValue(element, attribute.type, place)
        if attribute.type == .compositeAttributeType {
            let reference = compositeReference(element)
            if element.children(named: "attribute").isEmpty { attribute.compositeName = reference }
            attribute.elements = try compositeElements(
                element, place, reference: reference, composites: composites, open: open)
        }
        var property = PropertyDocument(name: name, kind: .attribute(attribute))
        try readCommon(element, into: &property, place)
        property.isTransient = try element.boolean("transient", place)
        property.isIndexed = try element.boolean("indexed", place)
        property.validation = try attributeValidation(element, attribute.type, place)
        return property
    }

    /// The name of an attribute's composite type: Xcode writes `composite="Location"`.
    private static func compositeReference(_ element: SourceElement) -> String {
        let keys = ["composite", "compositeName", "compositeType", "compositeAttribute", "elementName", "type", "name"]
        return keys.lazy.compactMap { element.string($0) }.first ?? ""
    }

    private static func compositeElements(
        _ element: SourceElement, _ place: SourceElement.Place, reference: String, composites: CompositeDefinitions,
        open: [String]
    ) throws -> [PropertyDocument] {
        var definition = element
        var open = open
        if element.children(named: "attribute").isEmpty {
            definition = try composites.definition(reference, of: element, place, open: open)
            open.append(reference)
        }
        let parts = definition.children.filter { $0.name == "attribute" || $0.name == "composite" }
        try composites.count(parts.count, in: element, place)
        return try parts.map { try attribute($0, entity: place.entity, composites: composites, open: open) }
    }

    /// Reads the common attributes of all properties.
    static func readCommon(
        _ element: SourceElement, into property: inout PropertyDocument, _ place: SourceElement.Place
    ) throws {
        property.isOptional = try element.boolean("optional", place)
        property.versionHashModifier = element.string("versionHashModifier")
        property.renamingIdentifier = renamingIdentifier(element, name: property.name)
        property.isIndexedBySpotlight = element.lenientBoolean("spotlightIndexingEnabled")
        property.isStoredInExternalRecord = element.lenientBoolean("storedInTruthFile")
        property.userInfo = element.userInfo
    }
}
