import Foundation
import PredicateFormat

/// The errors of validation, with Core Data's codes and user info.
enum ValidationError {
    static func make(
        _ code: Int, _ description: String, key: String, value: Any?, object: NSManagedObject,
        predicate: NSPredicate? = nil
    ) -> NSError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: description,
            NSValidationObjectErrorKey: object,
            NSValidationKeyErrorKey: key,
        ]
        // Foundation stops the program when it describes an error with a date outside all calendars.
        if let value, !UnacceptableValue.isDateOutsideCalendars(value) { info[NSValidationValueErrorKey] = value }
        if let predicate { info[NSValidationPredicateErrorKey] = predicate }
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }

    static func missing(_ key: String, object: NSManagedObject) -> NSError {
        make(
            CoreDataErrorCode.validationMissingMandatoryProperty,
            "\(name(of: object, key)) is a required value, and has none.", key: key, value: nil, object: object)
    }

    static func wrongType(_ value: Any, slot: SlotLayout, object: NSManagedObject) -> NSError {
        let (code, wanted): (Int, String) =
            switch slot.kind {
            case .attribute(let attribute): UnacceptableValue(value).refusal(by: attribute)
            case .toOne(let relationship):
                (CoreDataErrorCode.managedObjectValidation, "\(relationship.destination.name) object")
            }
        return make(
            code,
            "Unacceptable value for \(name(of: object, slot.name)): it wants \(wanted), and was given "
                + "\(type(of: value)) (\(UnacceptableValue.text(of: value))).", key: slot.name, value: value,
            object: object)
    }

    /// The errors for a value's unsatisfied validation predicates.
    static func failures(_ value: Any?, of property: NSPropertyDescription, object: NSManagedObject) -> [NSError] {
        var errors: [NSError] = []
        for (index, predicate) in property.validationPredicates.enumerated() {
            do {
                if try StoreError.evaluating({ predicate.evaluate(with: value) }) { continue }
            } catch {
                let message = "\(name(of: object, property.name)) cannot be checked. \(error.localizedDescription)"
                errors.append(
                    make(
                        CoreDataErrorCode.managedObjectValidation, message, key: property.name, value: value,
                        object: object, predicate: predicate))
                continue
            }
            let warning = property.validationWarnings.indices.contains(index) ? property.validationWarnings[index] : nil
            let code = (warning as? NSNumber)?.intValue ?? CoreDataErrorCode.managedObjectValidation
            let message =
                (warning as? String).map { ModelWords(of: object).errorString($0) }
                ?? "\(name(of: object, property.name)) is \(value.map { "\($0)" } ?? "nil"), which does not satisfy "
                + "\(formatString(of: predicate))."
            errors.append(
                make(code, message, key: property.name, value: value, object: object, predicate: predicate))
        }
        return errors
    }

    static func count(_ count: Int, of relationship: RelationshipLayout, object: NSManagedObject) -> NSError? {
        // An empty set is not a missing value: it only has too few objects, and may be empty if the relationship is
        // optional.
        if count == 0, relationship.isOptional { return nil }
        if count < relationship.minCount {
            return make(
                CoreDataErrorCode.validationRelationshipLacksMinimumCount,
                "\(name(of: object, relationship.name)) has \(count) objects, and needs \(relationship.minCount) or more.",
                key: relationship.name, value: object.value(forKey: relationship.name), object: object)
        }
        if relationship.maxCount > 0, count > relationship.maxCount {
            return make(
                CoreDataErrorCode.validationRelationshipExceedsMaximumCount,
                "\(name(of: object, relationship.name)) has \(count) objects, and may have \(relationship.maxCount) at most.",
                key: relationship.name, value: object.value(forKey: relationship.name), object: object)
        }
        return nil
    }

    static func deniedDelete(_ relationship: RelationshipLayout, _ count: Int, object: NSManagedObject) -> NSError {
        make(
            CoreDataErrorCode.validationRelationshipDeniedDelete,
            "The object cannot be deleted while \(name(of: object, relationship.name)) has \(count) "
                + "\(count == 1 ? "object" : "objects") (delete rule “deny”).",
            key: relationship.name, value: object.value(forKey: relationship.name), object: object)
    }

    /// A relationship that leads to an object which will not be there; Core Data speaks of a dangling reference.
    static func dangling(
        _ relationship: RelationshipLayout, _ destination: NSManagedObject, object: NSManagedObject
    ) -> NSError {
        make(
            CoreDataErrorCode.managedObjectValidation,
            "\(name(of: object, relationship.name)) leads to \(destination.identifier.description), which was deleted, or "
                + "is in no context, and would not be saved. Set the relationship to another object, or to nil.",
            key: relationship.name, value: destination, object: object)
    }

    /// Throws the only error, or all of them in one.
    static func throwIfAny(_ errors: [any Error], object: NSManagedObject) throws {
        guard let first = errors.first else { return }
        if errors.count == 1 { throw first }
        throw NSError(
            domain: NSCocoaErrorDomain, code: CoreDataErrorCode.validationMultipleErrors,
            userInfo: [
                NSLocalizedDescriptionKey: "Several values are not valid: "
                    + errors.map(\.localizedDescription).joined(separator: " "),
                NSDetailedErrorsKey: errors.map { $0 as NSError },
                NSValidationObjectErrorKey: object,
            ])
    }

    private static func name(of object: NSManagedObject, _ key: String) -> String {
        let (words, entity) = (ModelWords(of: object), object.layout.name)
        return "“\(words.entity(entity)).\(words.property(key, of: entity))”"
    }
}

/// The human-readable names and messages in a model's localization dictionary, each under a key with its kind as a
/// prefix.
struct ModelWords {
    private let dictionary: [String: String]

    init(of object: NSManagedObject) {
        dictionary = object.layout.description.model?.localizationDictionary ?? [:]
    }

    func entity(_ name: String) -> String { dictionary["Entity/\(name)"] ?? name }

    /// The name of a property; an entity may have its own.
    func property(_ name: String, of entity: String) -> String {
        dictionary["Property/\(name)/Entity/\(entity)"] ?? dictionary["Property/\(name)"] ?? name
    }

    func errorString(_ message: String) -> String { dictionary["ErrorString/\(message)"] ?? message }
}
