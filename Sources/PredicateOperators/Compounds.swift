import PredicateFormat

extension NSPredicate {
    /// `first AND second`
    public static func && (first: NSPredicate, second: NSPredicate) -> NSPredicate {
        compound(.and, first, second)
    }

    /// `first OR second`
    public static func || (first: NSPredicate, second: NSPredicate) -> NSPredicate {
        compound(.or, first, second)
    }

    /// `NOT predicate`
    public static prefix func ! (predicate: NSPredicate) -> NSPredicate {
        .not(predicate)
    }

    /// Joins two predicates; a chain of one operator becomes one list, as in a format string.
    private static func compound(
        _ type: NSCompoundPredicate.LogicalType, _ first: NSPredicate, _ second: NSPredicate
    ) -> NSPredicate {
        if let compound = first as? NSCompoundPredicate, compound.compoundPredicateType == type {
            return NSPredicate.compound(compound.subpredicates + [second], by: type)
        }
        return .compound([first, second], by: type)
    }
}
