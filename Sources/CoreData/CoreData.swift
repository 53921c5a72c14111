// One import for users: the floors below belong to Core Data's public API, too.
@_exported import CoreDataModel
@_exported import MigrationPlans
@_exported import StoreEngine

// Foundation has classes of these names off Apple's platforms too, which can be neither created nor subclassed.

/// A value in a predicate, or a computation of one.
public typealias NSExpression = PredicateFormat.NSExpression

/// A predicate that compares the values of two expressions.
public typealias NSComparisonPredicate = PredicateFormat.NSComparisonPredicate
