import Foundation

/// A part of a source model that is not understood and that a store does not need: the model is compiled without it.
package struct SourceWarning: Equatable, Sendable {
    package let entity: String?
    package let property: String?
    /// The line, from 1; nil where the file has no lines.
    package let line: Int?
    /// What is not understood, what would be, and what is done instead.
    package let reason: String

    /// `line 3, entity “A”, property “x”: …`
    package var text: String {
        let place = [line.map { "line \($0)" }, entity.map { "entity “\($0)”" }, property.map { "property “\($0)”" }]
        return place.compactMap { $0 }.joined(separator: ", ") + ": " + reason
    }
}

/// Finds the values of XML attributes that are not understood and have no meaning for a store, and elements and XML
/// attributes of unknown names. Pure.
///
/// Over the years, Xcode has written other values than those it offers now, and a model in use must not fail because of
/// them.
enum SourceWarnings {
    /// Flags without meaning for a store: code generation concerns the build, the others concern iCloud, Spotlight and
    /// Swift's types.
    private static let flags: Set<String> = [
        "syncable", "usesScalarValueType", "spotlightIndexingEnabled", "storedInTruthFile", "allowsCloudEncryption",
        "usedWithCloudKit",
    ]

    static func warnings(of root: SourceElement) -> [SourceWarning] {
        warnings(of: root, .init())
            + root.children.flatMap { element in
                let entity = element.name == "entity" ? element.string("name") : nil
                let inner = element.children.flatMap { child -> [SourceWarning] in
                    let isProperty = ["attribute", "relationship", "fetchedProperty", "composite"].contains(child.name)
                    return warnings(of: child, .init(entity: entity, property: isProperty ? child.string("name") : nil))
                }
                return warnings(of: element, .init(entity: entity)) + inner
            }
    }

    private static func warnings(of element: SourceElement, _ place: SourceElement.Place) -> [SourceWarning] {
        func warning(_ reason: String, at part: SourceElement) -> SourceWarning {
            SourceWarning(
                entity: place.entity, property: place.property, line: part.line > 0 ? part.line : nil, reason: reason)
        }
        func warning(_ reason: String) -> SourceWarning { warning(reason, at: element) }
        func warning(_ key: String, _ value: String, _ expected: String, _ instead: String) -> SourceWarning {
            warning("\(key) is “\(value)”; \(expected) expected. \(instead)")
        }
        var found: [SourceWarning] = []
        for child in SourceVocabulary.unknownChildren(of: element) {
            found.append(warning("<\(child.name)> is not understood. It is left out", at: child))
        }
        for key in SourceVocabulary.unknownAttributes(of: element) where key != "renamingIdentifier" {
            found.append(warning("\(key) is not understood. It is left out"))
        }
        for key in flags.sorted() {
            guard let value = element.string(key), SourceElement.boolean(of: value) == nil else { continue }
            found.append(warning(key, value, "YES or NO", "It is taken for NO, and means nothing to a store"))
        }
        if let value = element.string("renamingIdentifier") {
            found.append(
                warning(
                    "renamingIdentifier is “\(value)”, which Xcode does not read either: the former name is expected in "
                        + "elementID. Without it, a migration takes what was renamed for something new"))
        }
        if element.name == "entity", let value = element.string("codeGenerationType"),
            CodeGeneration(sourceValue: value) == nil
        {
            found.append(
                warning("codeGenerationType", value, "class, category or none", "No code is generated for the entity"))
        }
        if element.name == "attribute" { found += leftovers(of: element).map(warning) }
        if element.name == "entity", let value = element.string("coreSpotlightDisplayNameExpression"),
            SourceReader.spotlightDisplayName(element) == nil
        {
            found.append(
                warning(
                    "coreSpotlightDisplayNameExpression", value, "an expression",
                    "It is left out, and means nothing to a store"))
        }
        for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") })
        where entry.string("key") == nil {
            found.append(warning("an entry of the user info has no key. It is left out", at: entry))
        }
        for part in element.children(named: "fetchIndexElement") where SourceReader.indexElementType(part) == nil {
            let (index, type) = (element.string("name") ?? "", part.string("type") ?? "")
            found.append(
                warning(
                    "an element of the index “\(index)” has the type “\(type)”; Binary or RTree expected. It is "
                        + "taken for Binary", at: part))
        }
        return found
    }

    /// The default, bounds and pattern that are not understood, or that the attribute's type has not: those of the type
    /// that it had before. Not those for which the whole model is refused.
    private static func leftovers(of element: SourceElement) -> [String] {
        let name = element.string("attributeType") ?? "Undefined"
        guard let type = SourceReader.attributeTypes[name] else { return [] }
        func misread(_ key: String, _ value: String) -> String? {
            switch type {
            case .UUIDAttributeType: return UUID(uuidString: value) == nil ? "a UUID" : nil
            case .dateAttributeType:
                let interval = key.replacingOccurrences(of: "ValueString", with: "DateTimeInterval")
                return element.string(interval) == nil && SourceReader.date(value) == nil ? "a date" : nil
            default:
                // A default of another type that cannot be read is an error.
                let isBound = key == "minValueString" || key == "maxValueString"
                return !isBound || SourceReader.readsBound(value, of: type) ? nil : "a value of the type \(name)"
            }
        }
        let keys = [
            ("defaultValueString", type.hasDefaultInSource, "The attribute has no default"),
            ("minValueString", type.hasBoundsInSource, "The attribute has no minimum"),
            ("maxValueString", type.hasBoundsInSource, "The attribute has no maximum"),
            ("regularExpressionString", type == .stringAttributeType, "The attribute has no pattern"),
        ]
        return keys.compactMap { key, isOffered, instead in
            guard let value = element.string(key), !value.isEmpty else { return nil }
            guard isOffered else {
                return "\(key) is “\(value)”, which the type \(name) cannot have. \(instead)"
            }
            return misread(key, value).map { "\(key) is “\(value)”; \($0) expected. \(instead)" }
        }
    }
}

extension CodeGeneration {
    /// Reads Xcode's value. `nil` for a word that Xcode does not write.
    ///
    /// - Parameter sourceValue: Xcode's value: empty or `none`, `class`, `category`.
    init?(sourceValue: String) {
        switch sourceValue {
        case "", "none": self = .none
        default: self.init(rawValue: sourceValue)
        }
    }
}

/// The names of XML elements and attributes that Xcode's editor has written over the years.
enum SourceVocabulary {
    /// The elements in a model and in an entity.
    private static let elements: [String: Set<String>] = [
        "model": ["entity", "configuration", "fetchRequest", "composite", "elements"],
        "entity": [
            "attribute", "composite", "relationship", "fetchedProperty", "fetchIndex", "uniquenessConstraints",
            "compoundIndexes", "userInfo",
        ],
    ]

    /// The XML attributes of all properties.
    private static let ofProperties: Set<String> = [
        "name", "optional", "transient", "indexed", "syncable", "spotlightIndexingEnabled", "storedInTruthFile",
        "versionHashModifier", "elementID",
    ]

    /// The XML attributes of an attribute, also of one that is composite.
    private static let ofAttributes = ofProperties.union([
        "attributeType", "attributeValueClassName", "usesScalarValueType", "defaultValueString", "minValueString",
        "maxValueString", "regularExpressionString", "defaultDateTimeInterval", "minDateTimeInterval",
        "maxDateTimeInterval", "valueTransformerName", "customClassName", "allowsExternalBinaryDataStorage", "derived",
        "derivationExpression", "preserveAfterDeletion", "allowsCloudEncryption", "composite",
    ])

    private static let attributes: [String: Set<String>] = [
        "model": [
            "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
            "macOSVersion", "iOSVersion", "sourceLanguage", "userDefinedModelVersionIdentifier", "usedWithCloudKit",
            "usedWithSwiftData",
        ],
        "entity": [
            "name", "representedClassName", "parentEntity", "isAbstract", "syncable", "codeGenerationType", "elementID",
            "versionHashModifier", "coreSpotlightDisplayNameExpression",
        ],
        "attribute": ofAttributes,
        "composite": ofAttributes,
        "relationship": ofProperties.union([
            "toMany", "ordered", "minCount", "maxCount", "deletionRule", "destinationEntity", "inverseName",
            "inverseEntity",
        ]),
        "fetchedProperty": ofProperties,
        "fetchIndex": ["name", "partialIndexPredicate", "predicateString"],
        "fetchRequest": [
            "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "resultType", "includeSubentities",
            "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults",
        ],
    ]

    /// The children of an element that are not understood.
    static func unknownChildren(of element: SourceElement) -> [SourceElement] {
        element.children.filter { elements[element.name]?.contains($0.name) == false }
    }

    /// The XML attributes of an element that are not understood, sorted.
    static func unknownAttributes(of element: SourceElement) -> [String] {
        guard let known = attributes[element.name] else { return [] }
        return element.attributes.keys.filter { !known.contains($0) }.sorted()
    }
}
