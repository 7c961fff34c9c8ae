"""Twelve small games, each with the words of a user: which of them are found out completely, and are any wrongly called so?"""
