import PredicateFormat

// Foundation has a class with this name, too, which can be neither created nor subclassed here.

/// A value in a predicate, or a computation of one.
public typealias NSExpression = PredicateFormat.NSExpression
