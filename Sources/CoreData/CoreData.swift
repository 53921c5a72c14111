// One import suffices for users: the modules below belong to Core Data's public API, too.
@_exported import StoreSession

// Foundation has classes of these names on other platforms too, which can be neither created nor subclassed.

/// A value in a predicate, or a computation of one.
public typealias NSExpression = PredicateFormat.NSExpression

/// A predicate that compares the values of two expressions.
public typealias NSComparisonPredicate = PredicateFormat.NSComparisonPredicate
