import PredicateFormat

/// A value in a predicate, or a computation of one. Foundation has a class of this name, too, which can be neither created nor subclassed here.
public typealias NSExpression = PredicateFormat.NSExpression
