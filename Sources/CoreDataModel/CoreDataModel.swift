@_exported import Foundation
@_exported import ModelFiles
@_exported import PredicateFormat

// Foundation has classes of these names on other platforms too, which can be neither created nor subclassed.

/// A value in a predicate, or a computation of one.
public typealias NSExpression = PredicateFormat.NSExpression

/// A predicate that compares the values of two expressions.
public typealias NSComparisonPredicate = PredicateFormat.NSComparisonPredicate
