/// What a notification reports of an object that changed.
enum ReportedChange {
    case inserted, updated, deleted

    /// The change that an object's state shows; `nil` if there is none to report. An object that was inserted and
    /// deleted in one event is reported as deleted.
    init?(_ state: ObjectState) {
        if state.isDisjoint(with: .anyEvent) { return nil }
        if state.contains(.deletedInEvent) {
            self = .deleted
        } else {
            self = state.contains(.insertedInEvent) ? .inserted : .updated
        }
    }
}

/// What the notification of an event reports: the objects by their changes, or only how many there are.
struct EventReport {
    private(set) var inserted: [NSManagedObject] = []
    private(set) var updated: [NSManagedObject] = []
    private(set) var deleted: [NSManagedObject]
    let refreshed: [NSManagedObject]
    /// How many objects there are.
    private(set) var count: Int
    /// Without observers, the objects are only counted: an array of many would retain each.
    let includesObjects: Bool

    /// A report of an event that has ended. Its objects get the state `.posting` instead of those of the event.
    init(of event: ContextEvent) {
        (deleted, refreshed) = (event.removed, event.refreshed)
        count = deleted.count + refreshed.count
        includesObjects = SaveNotifications.includesChangedObjects(event.objects.count + count)
        for object in event.objects {
            let change = ReportedChange(object.state)
            object.state.remove(.anyEvent)
            object.state.insert(.posting)
            if let change { add(object, change) }
        }
    }

    @inline(__always)
    private mutating func add(_ object: NSManagedObject, _ change: ReportedChange) {
        count += 1
        guard includesObjects else { return }
        switch change {
        case .inserted: inserted.append(object)
        case .updated: updated.append(object)
        case .deleted: deleted.append(object)
        }
    }
}
