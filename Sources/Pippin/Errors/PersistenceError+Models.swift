import StoreSession

// Errors of models, their properties and values.
extension PersistenceError {
    package static func notDerivable(type: String, property: String, reason: String) -> PersistenceError {
        PersistenceError(
            .notDerivable, entity: type, property: property.isEmpty ? nil : property, reason: reason,
            "No entity can be made of '\(type)'\(property.isEmpty ? "" : ", because of '\(property)'"): \(reason)")
    }

    package static func unknownModel(_ model: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownModel, entity: model, known: known.sorted(),
            "The manager knows nothing of '\(model)'. Name it in PersistenceManager(models:), next to "
                + "\(known.isEmpty ? "the others" : known.sorted().joined(separator: ", ")).")
    }

    package static func unknownEntity(_ entity: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownEntity, entity: entity, known: known.sorted(),
            "The model has no entity '\(entity)'. It has: \(known.sorted().joined(separator: ", ")).")
    }

    package static func unknownProperty(
        _ property: String, entity: String, known: [String], hint: String = ""
    ) -> PersistenceError {
        // Swift does not tell a property with `didSet`, or with a wrapper, from a computed one.
        let advice =
            property.contains("<computed")
            ? " If it is one of these, with willSet, didSet or a wrapper, name it as it is here in a format: "
                + ".format(\"name == %@\", value). @CoreModel makes known those with willSet or didSet. "
                + "An enumeration is compared itself, not by its rawValue."
            : property.contains("<property")
                ? " Swift tells the name of no property without a size: name it in a format: "
                    + ".format(\"name == %@\", value)." : ""
        return PersistenceError(
            .unknownProperty, entity: entity, property: property, known: known,
            "'\(property)' is not a stored property of '\(entity)'. Stored are: \(known.joined(separator: ", "))."
                + hint + advice)
    }

    /// The error for a stored property that does not support what was asked.
    package static func noSingleValue(
        _ property: String, entity: String, known: [String], _ what: String
    ) -> PersistenceError {
        PersistenceError(
            .unknownProperty, entity: entity, property: property, known: known,
            "'\(property)' is not a single value of '\(entity)'. \(what)")
    }

    /// The error for pages in an order in which stores cannot compare a text with one that they are given.
    static func notPaged(_ property: String, entity: String, order: String) -> PersistenceError {
        PersistenceError(
            .notComparable, entity: entity, property: property,
            "Pages of '\(entity)' cannot be taken in the \(order) order of '\(property)': what comes after a model is found by code points. "
                + "Leave the order of texts out, or take pages by offset.")
    }

    package static func notComparable(property: String, entity: String, type: String) -> PersistenceError {
        PersistenceError(
            .notComparable, entity: entity, property: property,
            "'\(property)' cannot be compared with this \(type). A filter compares single values (numbers, texts, dates, UUIDs, URLs, "
                + "enumerations with raw values), nested values, and lists whose order is certain; of models whether there are any, and their "
                + "properties, such as their identifiers. Fetch by other properties, and filter what comes.")
    }

    /// The error for a comparison with a value that no store can have.
    package static func notKept(property: String, entity: String, reason: String) -> PersistenceError {
        PersistenceError(
            .notComparable, entity: entity, property: property, reason: reason,
            "'\(property)' cannot be compared with this value: \(reason)")
    }

    /// The error for a filter that is evaluated in memory, and asks for more of a referenced model than its identifier.
    static func behindReference(property: String, entity: String) -> PersistenceError {
        PersistenceError(
            .notComparable, entity: entity, property: property,
            "'\(property)' of the \(entity) is not known in memory: a Reference has the identifier only. "
                + "Use the filter in a fetch, or have the \(entity) itself in the Reference's place.")
    }

    /// The error for a value of all models of a type in a filter of the members of a list.
    static func computedOverAll(_ value: String, entity: String) -> PersistenceError {
        PersistenceError(
            .notComparable, entity: entity,
            "'\(value)' is computed over all models of '\(entity)', and no part of a filter of a list's members. Fetch the value first."
        )
    }

    /// The error for a comparison by the order of a type, which the stored values may not have.
    static func unknownOrder(property: String, entity: String, type: String) -> PersistenceError {
        PersistenceError(
            .notComparable, entity: entity, property: property,
            "'\(property)' cannot be compared by the order of \(type): the store knows the order of stored values only. Compare it with one "
                + "case of a type that is CaseIterable and Comparable, or with a stored value in a format.")
    }

    /// The error for a nested struct in a `#Predicate` or a format, compared as a whole with more than nil.
    static func nestedValueAsWhole(_ comparison: String, entity: String) -> PersistenceError {
        PersistenceError(
            .notComparable, entity: entity, property: comparison,
            "'\(comparison)' compares a nested struct as a whole, which a #Predicate and a format do with nil only. Compare its properties, "
                + "or use a key path, such as \\.address == home.")
    }

    package static func keptAsJSON(property: String, path: String, entity: String) -> PersistenceError {
        PersistenceError(
            .keptAsJSON, entity: entity, property: property,
            "'\(path)' cannot be looked at by the store: '\(property)' is kept as JSON, as values are that contain themselves or have no "
                + "fixed properties. Fetch by other properties, and filter what comes. Of a list of texts, numbers or other single values, "
                + "contains, ANY, IN and the count are known.")
    }

    package static func missingReference(entity: String, key: String, uid: String) -> PersistenceError {
        PersistenceError(
            .missingReference, entity: entity, property: key, identifier: uid,
            "'\(entity).\(key)' refers to '\(uid)', which is neither stored nor being saved. Save that first, or along with it."
        )
    }

    package static func unreadable(
        entity: String, uid: String? = nil, key: String, reason: String, underlying: (any Error)? = nil
    ) -> PersistenceError {
        PersistenceError(
            .unreadable, entity: entity, property: key, identifier: uid, reason: reason, underlying: underlying,
            "\(uid.map { "The \(entity) '\($0)'" } ?? "The store's value of '\(entity)'") cannot be read"
                + "\(key.isEmpty ? "" : ", because of '\(key)'"): \(reason)")
    }

    package static func unwritable(entity: String, uid: String, key: String?, reason: String) -> PersistenceError {
        PersistenceError(
            .unwritable, entity: entity, property: key, identifier: uid, reason: reason,
            "The \(entity) '\(uid)' cannot be saved\(key.map { ", because of '\($0)'" } ?? ""): \(reason)")
    }

    /// The error for a change of all models that a filter selects.
    static func unwritable(filteredEntity entity: String, key: String, reason: String) -> PersistenceError {
        PersistenceError(
            .unwritable, entity: entity, property: key, reason: reason,
            "The \(entity) models of the filter cannot be changed, because of '\(key)': \(reason)")
    }

    package static func changedInRead(entities: [String]) -> PersistenceError {
        PersistenceError(
            .changedInRead, known: entities,
            "A block of read(_:) has changed \(entities.joined(separator: ", ")), which nobody would save. Use write(_:), or take the changes "
                + "back with rollback() before the block ends.")
    }

    package static var blockEnded: PersistenceError {
        PersistenceError(
            .blockEnded,
            "What a block of read(_:) or write(_:) is given works inside that block only, and it has ended. Nothing was read or "
                + "changed. Begin another block.")
    }

    package static func alreadyStored(entity: String, id: String) -> PersistenceError {
        PersistenceError(
            .alreadyStored, entity: entity, identifier: id,
            "The \(entity) '\(id)' is stored already, so it cannot be inserted. Change it with update, or save it whether it is stored "
                + "or not with save. Nothing was changed.")
    }

    package static func repeatedIdentifier(entity: String) -> PersistenceError {
        PersistenceError(
            .alreadyStored, entity: entity,
            "Several of the \(entity)s that were to be inserted have the same identifier. Give each its own. Nothing was changed."
        )
    }

    package static func notFound(entity: String, id: String) -> PersistenceError {
        PersistenceError(
            .notFound, entity: entity, identifier: id,
            "There is no \(entity) '\(id)' to change. Insert it, or save it whether it is stored or not with save. Nothing was changed."
        )
    }

    package static func notSettable(_ property: String, entity: String, reason: String) -> PersistenceError {
        PersistenceError(
            .notSettable, entity: entity, property: property, reason: reason,
            "'\(property)' of '\(entity)' cannot be set where a filter holds: \(reason)")
    }
}
