import CoreData

/// Why a save failed: which models or records, which of their properties, and the reason. Nothing of it was saved.
///
/// ```swift
/// do {
///     try await manager.save(books)
/// } catch let error as SaveError {
///     for failure in error.failures { print(failure.entity, failure.uid ?? "", failure.key ?? "", failure.reason) }
/// }
/// ```
///
/// As an `NSError` it has the domain and the code of Core Data's error.
public struct SaveError: Error, @unchecked Sendable {
    // @unchecked Sendable: the underlying error is only handed on.

    /// One thing that is wrong.
    public struct Failure: Sendable, Equatable {
        /// The entity of the model or record.
        public let entity: String
        /// Its identifier, as text; nil where it has none.
        public let uid: String?
        /// The property; nil where it is about the whole of it.
        public let key: String?
        /// What is wrong.
        public let reason: String
    }

    /// What is wrong with which model; empty where it is about none in particular, such as a full disk.
    public let failures: [Failure]
    /// Core Data's error.
    public let underlying: any Error

    /// For use on the queue of the context that could not be saved.
    init(_ error: any Error, _ registry: ModelRegistry) {
        underlying = error
        let error = error as NSError
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
        failures = details.flatMap { Self.failures($0, registry) }
    }

    private static func failures(_ error: NSError, _ registry: ModelRegistry) -> [Failure] {
        func failure(_ object: NSManagedObject, _ key: String?, _ reason: String) -> Failure {
            Failure(entity: object.entity.name ?? "", uid: registry.uid(of: object), key: key, reason: reason)
        }
        if let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject {
            return [failure(object, error.userInfo[NSValidationKeyErrorKey] as? String, error.localizedDescription)]
        }
        switch error.userInfo[NSPersistentStoreSaveConflictsErrorKey] {
        case let conflicts as [NSMergeConflict]:
            return conflicts.map { failure($0.sourceObject, nil, "It was changed by somebody else in the meantime.") }
        case let conflicts as [NSConstraintConflict]:
            return conflicts.flatMap { conflict in
                let stored = conflict.databaseObject.flatMap { registry.uid(of: $0) }
                let reason =
                    stored.map { "'\($0)' has the same value already." } ?? "Another one has the same value already."
                return conflict.conflictingObjects.map {
                    failure($0, conflict.constraint.joined(separator: ", "), reason)
                }
            }
        default: return []
        }
    }
}

extension SaveError: LocalizedError, CustomNSError, CustomStringConvertible {
    /// Which models could not be saved, and why.
    public var description: String {
        guard !failures.isEmpty else { return "Nothing was saved. \(underlying.localizedDescription)" }
        let lines = failures.prefix(5).map { failure in
            "\(failure.entity)\(failure.uid.map { " '\($0)'" } ?? "")\(failure.key.map { ", \($0)" } ?? ""): \(failure.reason)"
        }
        let rest = failures.count > 5 ? " And \(failures.count - 5) more." : ""
        return "Nothing was saved. \(lines.joined(separator: " "))\(rest)"
    }

    /// Which models could not be saved, and why.
    public var errorDescription: String? { description }

    /// Core Data's.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// Core Data's code.
    public var errorCode: Int { (underlying as NSError).code }

    /// What Core Data says, with the failures in the description.
    public var errorUserInfo: [String: Any] {
        var info = (underlying as NSError).userInfo
        info[NSLocalizedDescriptionKey] = description
        info[NSUnderlyingErrorKey] = underlying
        return info
    }
}

extension ModelRegistry {
    /// The identifier of an object, as text: by the model that was derived for it, or by what its class says.
    fileprivate func uid(of object: NSManagedObject) -> String? {
        let key =
            plans.first { $0.name == object.entity.name }?.uidKey
            ?? (type(of: object) as? any DataRecord.Type)?.uidKey
        guard let key, object.entity.attributesByName[key] != nil else { return nil }
        return object.value(forKey: key).map { "\($0)" }
    }
}
