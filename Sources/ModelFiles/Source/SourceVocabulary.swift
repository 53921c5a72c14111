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
