import CoreData
import Pippin

/// The events that a context reports.
public enum ContextEvent: Sendable {
    /// Objects were inserted, changed, deleted or refreshed, saved or not.
    case objectsDidChange
    /// A save is about to begin.
    case willSave
    /// A save is done.
    case didSave

    fileprivate var name: Notification.Name {
        switch self {
        case .objectsDidChange: .NSManagedObjectContextObjectsDidChange
        case .willSave: .NSManagedObjectContextWillSave
        case .didSave: .NSManagedObjectContextDidSave
        }
    }
}

/// A context's notification, with types: which objects it is about.
public struct ContextChanges {
    /// The objects that are new.
    public let inserted: Set<NSManagedObject>
    /// The objects that have other values.
    public let updated: Set<NSManagedObject>
    /// The objects that are gone.
    public let deleted: Set<NSManagedObject>
    /// The objects that took over what others saved.
    public let refreshed: Set<NSManagedObject>
    /// Whether all objects of the context are of no more use.
    public let invalidatedAll: Bool

    /// The content of a notification of a context.
    ///
    /// - Parameter notification: one of those that contexts post.
    public init(_ notification: Notification) {
        func objects(_ key: String) -> Set<NSManagedObject> {
            notification.userInfo?[key] as? Set<NSManagedObject> ?? []
        }
        inserted = objects(NSInsertedObjectsKey)
        updated = objects(NSUpdatedObjectsKey)
        deleted = objects(NSDeletedObjectsKey)
        refreshed = objects(NSRefreshedObjectsKey)
        invalidatedAll = notification.userInfo?[NSInvalidatedAllObjectsKey] != nil
    }

    /// The same, with the records of one type alone.
    ///
    /// - Parameter type: the type.
    /// - Returns: the records of that type, in four lists.
    public func of<Record: NSManagedObject>(
        _ type: Record.Type
    ) -> (inserted: [Record], updated: [Record], deleted: [Record], refreshed: [Record]) {
        func records(_ objects: Set<NSManagedObject>) -> [Record] { objects.compactMap { $0 as? Record } }
        return (records(inserted), records(updated), records(deleted), records(refreshed))
    }
}

/// Stops an observation when it goes, or when it is cancelled.
public final class ObservationToken: @unchecked Sendable {
    // @unchecked Sendable: the notification center's token is locked, and only ever handed back.
    private let token: Locked<(any NSObjectProtocol)?>

    init(_ token: any NSObjectProtocol) { self.token = Locked(token) }

    deinit { cancel() }

    /// Ends the observation.
    public func cancel() {
        let token = token.withLock { token in
            defer { token = nil }
            return token
        }
        if let token { NotificationCenter.default.removeObserver(token) }
    }
}

extension NSManagedObjectContext {
    /// Hears of the context's events, with types.
    ///
    /// ```swift
    /// token = context.observe(.didSave) { changes in
    ///     for person in changes.of(PersonRecord.self).inserted { … }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - event: which ones.
    ///   - body: called on the context's queue.
    /// - Returns: what ends it, when it goes.
    public func observe(_ event: ContextEvent, _ body: @escaping (ContextChanges) -> Void) -> ObservationToken {
        let body = UncheckedTransfer(value: body)
        return ObservationToken(
            NotificationCenter.default.addObserver(forName: event.name, object: self, queue: nil) {
                body.value(ContextChanges($0))
            })
    }
}
