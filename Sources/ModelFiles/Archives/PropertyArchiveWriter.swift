import Foundation

extension ModelArchiveWriting {
    mutating func write(_ property: PropertyDocument, of entity: String, to reference: PropertyList) throws {
        var fields = try commonFields(property)
        fields["NSEntity"] = entities[entity]
        let classNames: [String]
        switch property.kind {
        case .attribute(let attribute):
            classNames = try write(attribute, into: &fields)
        case .relationship(let relationship):
            classNames = ModelArchive.relationship
            write(relationship, into: &fields)
        case .fetched(let request):
            classNames = ModelArchive.fetchedProperty
            fields["NSFetchRequest"] = try request.map { try fetchRequest($0) } ?? KeyedArchiveBuilder.null
            fields["_NSFetchRequestEntityName"] = builder.string(request?.entityName)
        }
        builder.fill(reference, classNames: classNames, fields: fields)
    }

    /// The common fields of all properties. A field with its default value is omitted, and the flags say so.
    private mutating func commonFields(_ property: PropertyDocument) throws -> [String: PropertyList] {
        var flags: ModelArchive.PropertyFlags = [.present]
        var fields: [String: PropertyList] = [
            "NSPropertyName": builder.string(property.name),
            "NSRenamingIdentifier": builder.string(property.renamingIdentifier ?? property.name),
        ]
        func set(_ condition: Bool, _ flag: ModelArchive.PropertyFlags, _ key: String) {
            guard condition else { return }
            flags.insert(flag)
            fields[key] = .boolean(true)
        }
        set(property.isOptional, .optional, "NSIsOptional")
        set(property.isReadOnly, .readOnly, "NSIsReadOnly")
        set(property.isTransient, .transient, "NSIsTransient")
        set(property.relationship?.isOrdered == true, .ordered, "NSIsOrdered")
        if property.isIndexed { fields["NSIsIndexed"] = .boolean(true) }
        set(property.isIndexedBySpotlight, .indexedBySpotlight, "NSIndexedBySpotlight")
        set(property.attribute?.allowsCloudEncryption == true, .cloudEncrypted, "NSAllowsCloudEncryption")
        if property.isStoredInExternalRecord { flags.insert(.storedInExternalRecord) }
        if property.userInfo.isEmpty {
            flags.insert(.noUserInfo)
        } else {
            fields["NSUserInfo"] = try userInfo(property.userInfo)
        }
        if let modifier = property.versionHashModifier {
            fields["NSVersionHashModifier"] = builder.string(modifier)
        } else {
            flags.insert(.noVersionHashModifier)
        }
        if property.validation.isEmpty {
            flags.formUnion([.noValidationPredicates, .noValidationWarnings])
        } else {
            var predicates: [PropertyList] = []
            var warnings: [PropertyList] = []
            for validation in property.validation {
                predicates.append(try PredicateArchiveWriter.predicate(validation.predicate, &builder))
                warnings.append(try value(validation.warning))
            }
            fields["NSValidationPredicates"] = builder.array(predicates)
            fields["NSValidationWarnings"] = builder.array(warnings)
        }
        fields["_P"] = .integer(flags.rawValue)
        return fields
    }

    /// Returns the class under which the attribute is archived.
    private mutating func write(
        _ attribute: AttributeDocument, into fields: inout [String: PropertyList]
    ) throws -> [String] {
        var flags: ModelArchive.AttributeFlags = []
        if attribute.allowsExternalStorage { flags.insert(.externalStorage) }
        if attribute.preservesValueOnDeletion { flags.insert(.preservedOnDeletion) }
        fields["NSFlagsKey"] = .integer(flags.rawValue)
        fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
        fields["NSAttributeValueClassName"] = builder.string(attribute.valueClassName ?? attribute.type.valueClassName)
        fields["NSValueTransformerName"] = builder.string(attribute.valueTransformerName)
        fields["NSDefaultValue"] = try value(attribute.defaultValue)
        if let derivation = attribute.derivation {
            fields["NSFilteringPredicate"] = KeyedArchiveBuilder.null
            fields["NSDerivationExpression"] = KeyedArchiveBuilder.null
            if case .expression(let tree) = derivation {
                fields["NSDerivationExpression"] = try PredicateArchiveWriter.expression(tree, &builder)
            }
            return ModelArchive.derivedAttribute
        }
        guard attribute.type == .compositeAttributeType else { return ModelArchive.attribute }
        var elements: [PropertyList] = []
        for element in attribute.elements {
            let reference = builder.reserve()
            try write(element, of: "", to: reference)
            elements.append(reference)
        }
        fields["NSCompositeElements"] = builder.array(elements)
        return ModelArchive.compositeAttribute
    }

    private mutating func write(_ relationship: RelationshipDocument, into fields: inout [String: PropertyList]) {
        let destination = relationship.destinationName ?? ""
        fields["NSDestinationEntity"] = entities[destination] ?? KeyedArchiveBuilder.null
        fields["_NSDestinationEntityName"] = builder.string(relationship.destinationName)
        let inverse = relationship.inverseName.flatMap { property(named: $0, ofEntity: destination) }
        fields["NSInverseRelationship"] = inverse ?? KeyedArchiveBuilder.null
        fields["_NSInverseRelationshipName"] = builder.string(relationship.inverseName)
        fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
        fields["NSMinCount"] = .integer(Int64(relationship.minCount))
        fields["NSMaxCount"] = .integer(Int64(relationship.maxCount))
    }

    mutating func fetchRequest(_ request: FetchRequestDocument) throws -> PropertyList {
        var flags: ModelArchive.FetchRequestFlags = []
        if request.returnsDistinctResults { flags.insert(.distinctResults) }
        if request.includesSubentities { flags.insert(.subentities) }
        if request.includesPropertyValues { flags.insert(.propertyValues) }
        if request.returnsObjectsAsFaults { flags.insert(.objectsAsFaults) }
        if request.includesPendingChanges { flags.insert(.pendingChanges) }
        if request.refreshesRefetchedObjects { flags.insert(.refreshRefetched) }
        let predicate = try request.predicate.map { try PredicateArchiveWriter.predicate($0, &builder) }
        let having = try request.havingPredicate.map { try PredicateArchiveWriter.predicate($0, &builder) }
        var sort: [PropertyList] = []
        for term in request.sortTerms {
            let selector = ModelArchive.sortSelectors.first { $0.1 == term.comparison }?.0
            sort.append(
                builder.add(
                    classNames: ModelArchive.sortDescriptor,
                    fields: [
                        "NSKey": builder.string(term.keyPath.isEmpty ? "self" : term.keyPath.joined(separator: ".")),
                        "NSAscending": .boolean(term.ascending), "NSSelector": builder.string(selector),
                        "NSReverseNullOrder": .boolean(false),
                    ]))
        }
        return builder.add(
            classNames: ModelArchive.fetchRequest,
            fields: [
                "NSEntity": entities[request.entityName] ?? KeyedArchiveBuilder.null,
                "NSPredicate": predicate ?? KeyedArchiveBuilder.null,
                "NSHavingPredicate": having ?? KeyedArchiveBuilder.null,
                "NSSortDescriptors": sort.isEmpty ? KeyedArchiveBuilder.null : builder.array(sort),
                "NSValuesToFetch": names(request.propertiesToFetch),
                "NSValuesToGroupBy": names(request.propertiesToGroupBy),
                "NSRelationshipKeyPathsForPrefetching": names(request.prefetchedKeyPaths),
                "NSHasFetchRequestFlags": .boolean(true), "NSFetchRequestFlags": .integer(flags.rawValue),
                "NSResultType": .integer(Int64(request.resultType)), "NSFetchOffset": .integer(Int64(request.offset)),
                "NSFetchLimit": .integer(Int64(request.limit)), "NSBatchSize": .integer(Int64(request.batchSize)),
                "NSAllocationType": .integer(0),
            ])
    }

    private mutating func names(_ names: [String]) -> PropertyList {
        guard !names.isEmpty else { return KeyedArchiveBuilder.null }
        var references: [PropertyList] = []
        for name in names { references.append(builder.string(name)) }
        return builder.array(references)
    }
}

extension PropertyDocument {
    /// A value that the store computes cannot be set.
    var isReadOnly: Bool {
        if case .fetched = kind { return true }
        return attribute?.derivation != nil
    }
}

/// The names in Apple's keyed archive of an `NSManagedObjectModel`, which is the content of a `.mom` file and of a
/// store's model cache.
enum ModelArchive {
    /// The bits of a property's `_P`, which tell an unarchiver in advance which fields are there.
    struct PropertyFlags: OptionSet {
        let rawValue: Int64
        /// Always set.
        static let present = PropertyFlags(rawValue: 1 << 0)
        static let optional = PropertyFlags(rawValue: 1 << 1)
        static let readOnly = PropertyFlags(rawValue: 1 << 2)
        static let transient = PropertyFlags(rawValue: 1 << 3)
        static let noValidationPredicates = PropertyFlags(rawValue: 1 << 4)
        static let noValidationWarnings = PropertyFlags(rawValue: 1 << 5)
        static let noUserInfo = PropertyFlags(rawValue: 1 << 6)
        static let noVersionHashModifier = PropertyFlags(rawValue: 1 << 7)
        static let indexedBySpotlight = PropertyFlags(rawValue: 1 << 8)
        static let storedInExternalRecord = PropertyFlags(rawValue: 1 << 9)
        static let ordered = PropertyFlags(rawValue: 1 << 10)
        static let cloudEncrypted = PropertyFlags(rawValue: 1 << 11)
    }

    /// The bits of an attribute's `NSFlagsKey`.
    struct AttributeFlags: OptionSet {
        let rawValue: Int64
        static let externalStorage = AttributeFlags(rawValue: 1 << 2)
        static let preservedOnDeletion = AttributeFlags(rawValue: 1 << 4)
    }

    /// The bits of a fetch request's `NSFetchRequestFlags`.
    struct FetchRequestFlags: OptionSet {
        let rawValue: Int64
        static let distinctResults = FetchRequestFlags(rawValue: 1 << 0)
        static let subentities = FetchRequestFlags(rawValue: 1 << 1)
        static let propertyValues = FetchRequestFlags(rawValue: 1 << 2)
        static let objectsAsFaults = FetchRequestFlags(rawValue: 1 << 3)
        static let pendingChanges = FetchRequestFlags(rawValue: 1 << 4)
        static let refreshRefetched = FetchRequestFlags(rawValue: 1 << 5)
    }

    /// Class chains, as in `$classes`.
    static let model = ["NSManagedObjectModel", "NSObject"]
    static let entity = ["NSEntityDescription", "NSObject"]
    static let attribute = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
    static let derivedAttribute = ["NSDerivedAttributeDescription"] + attribute
    static let compositeAttribute = ["NSCompositeAttributeDescription"] + attribute
    static let relationship = ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"]
    static let fetchedProperty = ["NSFetchedPropertyDescription", "NSPropertyDescription", "NSObject"]
    static let expressionDescription = ["NSExpressionDescription", "NSPropertyDescription", "NSObject"]
    static let index = ["NSFetchIndexDescription", "NSObject"]
    static let indexElement = ["NSFetchIndexElementDescription", "NSObject"]
    static let fetchRequest = ["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"]
    static let sortDescriptor = ["NSSortDescriptor", "NSObject"]

    /// The dictionary with predefined keys of a model in use: a mapping lists the keys, the values follow in the same
    /// order, and a token stands for a key without a value.
    static let knownKeysDictionary = [
        "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject",
    ]
    static let knownKeysMapping = ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"]
    static let emptySlotToken = "__empty_slot_token_4c24_98dc_ac1e_b773__"

    /// The selectors of archived sort descriptors.
    static let sortSelectors: [(String, SortTerm.Comparison)] = [
        ("compare:", .plain), ("caseInsensitiveCompare:", .caseInsensitive), ("localizedCompare:", .localized),
        ("localizedCaseInsensitiveCompare:", .localizedCaseInsensitive),
        ("localizedStandardCompare:", .localizedStandard),
    ]
}
