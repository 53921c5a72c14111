import Foundation
import KeyedArchives

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
