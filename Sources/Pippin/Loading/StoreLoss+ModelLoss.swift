import StoreSession

extension StoreLoss {
    /// A loss, reworded for structs.
    init(_ counted: CountedLoss) {
        let loss = counted.loss
        let (model, property) = (loss.modelEntity ?? loss.entity, loss.property ?? "")
        let remove = "Schema(.removed(\"\(property)\")) of '\(model)' to let it go"
        let reason: String
        let advice: String
        switch loss.reason {
        case .removed:
            reason = "'\(model)' has no such property."
            let owner = property.lastIndex(of: ".").map { property[...$0] } ?? ""
            advice =
                "Write Schema(.renamed(\\.\(owner)newName, from: \"\(property)\")) to keep it under another name, \(remove), or a MigrationPlan."
        case .changed(let former, let present):
            reason = "It was \(former) and is \(present), which its values do not become."
            advice =
                "Convert them by a MigrationPlan, write \(remove) and begin anew, or give the new property another name."
        case .narrowed(let former, let present):
            reason = "It was \(former) and is \(present), which holds less."
            advice = "Write Schema(.narrowed(\\.\(property))) to convert it nevertheless, or a MigrationPlan."
        case .otherParts:
            reason =
                "It was JSON (a list, a dictionary or another value), with parts that the struct has no property for."
            advice =
                "Write Schema(.narrowed(\\.\(property))) to let these parts go, convert them by a MigrationPlan, or give the new property another name."
        case .filledIn:
            reason = "It is optional in the store, and not here: no value would become an empty one in these rows."
            advice = "Make it optional, or write Schema(.narrowed(\\.\(property))) to take an empty value for none."
        case .renamedSince(let name):
            reason = "It was '\(name)' before, as it is in these models: the store is newer."
            advice =
                "Open it with the newer version of the program, or call it '\(property.isEmpty ? loss.entity : property)' here, too."
        case .replaced(let other):
            reason = "Its name is to be that of '\(other)', which is renamed."
            advice = "Move its rows first, or write Schema(…, name: …) with another name."
        case .destinationRemoved(let destination):
            reason = "It leads to '\(destination)', which Schema(.removed(entity: \"\(destination)\")) removes."
            advice = "Remove the property first, with a manager that names '\(model)'."
        case .inherits:
            reason = "It has a parent or children in the store, which structs do not have."
            advice = "Open the store with its own model, by records."
        case .unfilled(let isRelationship):
            reason = "It is new and required."
            advice = Self.filling(property, isRelationship)
        case .emptied(let isRelationship):
            reason = "It was optional and is required."
            advice = Self.filling(property, isRelationship)
        }
        self.init(
            entity: loss.entity, property: loss.property, rows: counted.rows, reason: reason, advice: advice,
            isWithoutValue: loss.reason.isWithoutValue)
    }

    private static func filling(_ property: String, _ isRelationship: Bool) -> String {
        isRelationship
            ? "Make it optional, or set it by a MigrationPlan."
            : "Give it an initial value in the @CoreModel struct, write Schema(.defaultValue(\\.\(property), …)), make it optional, or set it by a MigrationPlan."
    }
}

extension ModelLoss.Reason {
    /// Whether the rows lack a value, and lose none.
    fileprivate var isWithoutValue: Bool {
        switch self {
        case .unfilled, .emptied: true
        default: false
        }
    }
}
